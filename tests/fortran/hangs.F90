! SPDX-License-Identifier: BSD-3-Clause
! hangs.F90 - the last rank calls MPI_Bcast where the others call MPI_Reduce; plain MPI, or linked.
! For roll-calls and CRESTA_DEBUG=match of Fortran programs.  As `hangs made`, each rank begins a
! small broadcast of its own on a communicator that is freed before they meet again.
#if defined(LINKED)
#  define MPI_Allreduce CRESTA_Allreduce
#  define MPI_Bcast CRESTA_Bcast
#  define MPI_Reduce CRESTA_Reduce
#  define MPI_Barrier CRESTA_Barrier
#  define MPI_Ibcast CRESTA_Ibcast
#endif
program hangs
    use mpi
#if defined(LINKED)
    use crestacoll
#endif
    implicit none
    integer, parameter :: many = 2**18
    integer :: rank, ranks, made, request, ierror
    character(len=16) :: case
    integer, allocatable :: in(:), out(:)
    allocate (in(many), out(many))
    in = 1
    call MPI_Init(ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
    call get_command_argument(1, case)
    if (case == 'made') then
        call MPI_Cart_create(MPI_COMM_WORLD, 1, [ranks], [.false.], .false., made, ierror)
        call MPI_Comm_set_name(made, 'made', ierror)
        call MPI_Ibcast(in, 1, MPI_INTEGER, rank, made, request, ierror)
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
        call MPI_Comm_free(made, ierror)
        call MPI_Finalize(ierror)
        stop
    end if
    call MPI_Allreduce(in, out, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    if (rank == ranks - 1) then
        call MPI_Bcast(in, many, MPI_INTEGER, 0, MPI_COMM_WORLD, ierror)
    else
        call MPI_Reduce(in, out, many, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierror)
    end if
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    call MPI_Finalize(ierror)
end program hangs
