! SPDX-License-Identifier: BSD-3-Clause
! transpose.f90 - a matrix over all ranks by columns, transposed by one-sided operations: the
! alltoall puts its blocks into a window that is made once.
!
! CRESTA_IMPL='alltoall=os?via=get' has blocks fetched instead of put, 'alltoall=os?window=dynamic'
! makes a window for each call, 'alltoall=mpi' is the MPI's own.
program transpose_os
    use, intrinsic :: iso_fortran_env, only: real64
    use mpi_f08
    use crestacoll
    implicit none
    integer, parameter :: columns = 64  ! of each rank
    real(real64), allocatable :: matrix(:, :), transposed(:, :), packed(:, :, :), arrived(:, :, :)
    integer :: rank, ranks, n, i, j, r, wrong, total

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    call CRESTA_Set_impl(MPI_COMM_WORLD, 'alltoall=os,*=mpi')
    call CRESTA_Win_init(MPI_COMM_WORLD)  ! else the first call would make the window

    n = columns * ranks
    allocate (matrix(n, columns), transposed(n, columns))
    allocate (packed(columns, columns, ranks), arrived(columns, columns, ranks))
    do concurrent(i=1:n, j=1:columns)
        matrix(i, j) = real(rank * columns + j, real64) * n + i
    end do

    do r = 1, ranks
        packed(:, :, r) = transpose(matrix((r - 1) * columns + 1:r * columns, :))
    end do
    call CRESTA_Alltoall(packed, columns**2, MPI_DOUBLE_PRECISION, &
                         arrived, columns**2, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD)
    do r = 1, ranks
        transposed((r - 1) * columns + 1:r * columns, :) = arrived(:, :, r)
    end do

    wrong = 0
    do j = 1, columns
        do i = 1, n
            if (transposed(i, j) /= real(i, real64) * n + rank * columns + j) wrong = wrong + 1
        end do
    end do
    call CRESTA_Allreduce(wrong, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    if (rank == 0) print '(3(a, i0))', 'transposed ', n, ' x ', n, ', wrong elements: ', total
    call CRESTA_Win_finalize()
    if (total /= 0) error stop 'wrong'
    call MPI_Finalize()
end program transpose_os
