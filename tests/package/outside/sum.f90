! SPDX-License-Identifier: BSD-3-Clause
! sum.f90 - the same in Fortran.
program add_up
    use mpi_f08
    use crestacoll
    implicit none
    integer :: rank, ranks, total

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    call cresta_set_impl(MPI_COMM_WORLD, 'allreduce=nonblock')
    call cresta_allreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call MPI_Finalize()
    if (total /= ranks * (ranks - 1) / 2) error stop 1
end program add_up
