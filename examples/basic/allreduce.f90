! SPDX-License-Identifier: BSD-3-Clause
! allreduce.f90 - a linked Fortran program; with `use mpi` or mpif.h it is the same, and handles are
! integers.
program allreduce
    use mpi_f08
    use crestacoll
    implicit none
    integer :: rank, ranks, total

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)

    ! The program's own choice; CRESTA_IMPL in the environment overrides it.
    call CRESTA_Set_impl(MPI_COMM_WORLD, 'allreduce[0-4K]=nonblock,*=mpi')
    call CRESTA_Allreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)

    if (rank == 0) print '(a,i0)', 'sum of ranks: ', total
    if (total /= ranks * (ranks - 1) / 2) error stop 'wrong sum'
    call MPI_Finalize()
end program allreduce
