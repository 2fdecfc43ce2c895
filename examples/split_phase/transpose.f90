! SPDX-License-Identifier: BSD-3-Clause
! transpose.f90 - a transpose is pending while the program computes. With `use mpi` or mpif.h it is
! the same, and the request is an integer.
program transpose
    use mpi_f08
    use cresta_sp_coll
    implicit none
    integer, parameter :: n = 1000
    ! asynchronous: the compiler must not keep these in registers between begin and end
    double precision, allocatable, asynchronous :: field(:, :), transposed(:, :)
    type(MPI_Request) :: request
    integer :: rank, ranks, step, i
    logical :: right
    double precision :: x

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    allocate (field(n, ranks), transposed(n, ranks))
    right = .true.
    x = rank

    do step = 1, 5
        field = step * (rank + 1)
        call CRESTA_Alltoall_begin(field, n, MPI_DOUBLE_PRECISION, transposed, n, &
            MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, request)
        x = work(x)
        call CRESTA_Coll_end(1, request)
        do i = 1, ranks
            right = right .and. all(transposed(:, i) == step * i)
        end do
    end do

    if (rank == 0) print '(a,g0,a,l1)', 'work: ', x, ', transposed: ', right
    if (.not. right) error stop 'wrong transpose'
    call MPI_Finalize()

contains

    ! Uses no buffer of the pending operation.
    double precision function work(start)
        double precision, intent(in) :: start
        integer :: k
        work = start
        do k = 1, 100000
            work = cos(work)
            if (mod(k, 10000) == 0) call CRESTA_Progress()
        end do
    end function work
end program transpose
