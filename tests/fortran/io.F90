! SPDX-License-Identifier: BSD-3-Clause
! io.F90 FILE - calls of MPI-IO from Fortran, with and without a status, each with a number of bytes
! of its own: tests/python/test_library_io.py says what has to be counted.
#include "binding.inc"

program io
    USE_MPI
    implicit none
    INCLUDE_MPI
    HANDLE(MPI_File) :: file
    HANDLE(MPI_Request) :: request
#if defined(BINDING_F08)
    type(MPI_Status) :: status
#else
    integer :: status(MPI_STATUS_SIZE)
#endif
    integer :: rank, got, ierr
    integer :: buffer(64)
    integer(MPI_OFFSET_KIND) :: at
    character(len=300) :: name

    call get_command_argument(1, name)
    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    buffer = rank
    call MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, file &
        IERR)
    at = 0
    call MPI_File_set_view(file, at, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, ierr)
    at = 64 * rank
    call MPI_File_write_at(file, at, buffer, 1, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
    call MPI_File_write_at_all(file, at, buffer, 64, MPI_INTEGER, status, ierr)
    call MPI_Get_count(status, MPI_INTEGER, got, ierr)
    if (got /= 64) print *, 'a status tells', got
    call MPI_File_iwrite_at(file, at, buffer, 3, MPI_INTEGER, request, ierr)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
    call MPI_File_write_at_all_begin(file, at, buffer, 5, MPI_INTEGER, ierr)
    call MPI_File_write_at_all_end(file, buffer, MPI_STATUS_IGNORE, ierr)
    call MPI_File_sync(file IERR)
    call MPI_File_seek(file, at, MPI_SEEK_SET, ierr)
    call MPI_File_read(file, buffer, 7, MPI_INTEGER, status, ierr)
    call MPI_Get_count(status, MPI_INTEGER, got, ierr)
    if (got /= 7) print *, 'a status tells', got
    call MPI_File_read_all(file, buffer, 9, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
    if (any(buffer(:9) /= rank)) print *, 'what is read differs'
    call MPI_File_close(file IERR)
    call MPI_Finalize(ierr)
end program io
