! SPDX-License-Identifier: BSD-3-Clause
! calls_made.F90 - calls of the MPI of several kinds on two ranks, each function at one place: for
! tests of what a profile says of them.
#include "binding.inc"
program calls_made
    USE_MPI
    implicit none
    INCLUDE_MPI
    integer, parameter :: times = 50, many = 1000
    integer :: rank, other, i, ierr
    logical :: flag
    HANDLE(MPI_Request) :: requests(2)
    HANDLE(MPI_Comm) :: comm
    HANDLE(MPI_File) :: file
    double precision :: data(many), others(many)
    character(len=256) :: name
    data = 1
    call get_command_argument(1, name)
    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    other = 1 - rank
    do i = 1, times
        if (rank == 0) then
            call MPI_Send(data, many, MPI_DOUBLE_PRECISION, other, 0, MPI_COMM_WORLD, ierr)
        else
            call MPI_Recv(others, many, MPI_DOUBLE_PRECISION, other, 0, MPI_COMM_WORLD, &
                MPI_STATUS_IGNORE, ierr)
        end if
        call MPI_Irecv(others, 10, MPI_INTEGER, other, 1, MPI_COMM_WORLD, requests(1), ierr)
        call MPI_Isend(data, 10, MPI_INTEGER, other, 1, MPI_COMM_WORLD, requests(2), ierr)
        call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
        call MPI_Iallreduce(data, others, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, &
            requests(1), ierr)
        call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierr)
        call MPI_Allreduce(data, others, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
        call MPI_Iprobe(other, 9, MPI_COMM_WORLD, flag, MPI_STATUS_IGNORE, ierr)
    end do
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)
    call MPI_File_open(comm, name, MPI_MODE_CREATE + MPI_MODE_WRONLY, MPI_INFO_NULL, file, ierr)
    call MPI_File_close(file, ierr)
    call MPI_Comm_free(comm, ierr)
    call MPI_Finalize(ierr)
end program calls_made
