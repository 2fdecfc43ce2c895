! SPDX-License-Identifier: BSD-3-Clause
! exchange.f90 - collectives on coarrays, in a program that need not have any itself: rows of a grid
! of ranks, as a Fourier transform has them, take part of a coarray that all ranks share.
!
! Where there is no OpenCoarrays, it runs all the same, with a warning (CRESTA_FALLBACK).
program exchange_caf
    use mpi_f08
    use crestacoll
    implicit none
    type(MPI_Comm) :: row
    integer :: rank, ranks, wrong, total

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    ! Blocks of 512 bytes in random order spread the traffic of many ranks.
    call CRESTA_Set_impl(MPI_COMM_WORLD, &
                         'alltoall=caf:chunked?chunk=512&order=random,allreduce=caf')
    call MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, row)
    call CRESTA_Set_impl(row, 'alltoall=caf:chunked?chunk=512&order=random')

    wrong = exchange(MPI_COMM_WORLD) + exchange(row)
    call CRESTA_Allreduce(wrong, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    if (rank == 0) print '(a, i0)', 'exchanged on all ranks and on rows of two, wrong: ', total
    if (total /= 0) error stop 'wrong'
    call MPI_Comm_free(row)
    call MPI_Finalize()

contains

    !> Every rank of a row gives each other n numbers that say who gives what to whom. How many came
    !> out wrong.
    integer function exchange(comm) result(bad)
        type(MPI_Comm), intent(in) :: comm
        integer, parameter :: n = 1000
        integer, allocatable :: give(:, :), got(:, :)
        integer :: me, size, i, r
        call MPI_Comm_rank(comm, me)
        call MPI_Comm_size(comm, size)
        allocate (give(n, 0:size - 1), got(n, 0:size - 1))
        do concurrent(i=1:n, r=0:size - 1)
            give(i, r) = me * 1000000 + r * n + i
        end do
        call CRESTA_Alltoall(give, n, MPI_INTEGER, got, n, MPI_INTEGER, comm)
        bad = 0
        do r = 0, size - 1
            bad = bad + count(got(:, r) /= [(r * 1000000 + me * n + i, i=1, n)])
        end do
    end function exchange
end program exchange_caf
