! SPDX-License-Identifier: BSD-3-Clause
!> Recordings in Fortran: a sequence that is replayed with other data, what becomes of it, and a
!> section with gaps, which cannot be recorded. On one communicator after the other that the
!> arguments name, for which CRESTA_IMPL has rules.
#include "binding.inc"
program recordings
    USE_MPI
    implicit none
    INCLUDE_MPI
    integer, parameter :: n = 3, turns = 4
    integer :: me, ranks, ierr, checks, failures, argument
    character(16) :: name
    HANDLE(MPI_Comm) :: comm

    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
    failures = 0
    checks = 0
    do argument = 1, command_argument_count()
        call get_command_argument(argument, name)
        call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)
        call MPI_Comm_set_name(comm, trim(name), ierr)
        call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN, ierr)
        call replayed()
        call gaps_are_refused()
        call MPI_Comm_free(comm, ierr)
    end do
    call MPI_Finalize(ierr)
    if (me == 0) write (*, '(a,i0,a)') 'recordings: ', checks, ' checks'
    if (failures > 0 .or. checks == 0) error stop 1

contains

    subroutine check(good, what)
        logical, intent(in) :: good
        character(*), intent(in) :: what
        checks = checks + 1
        if (good) return
        failures = failures + 1
        write (*, '(a,i0,4a)') 'FAIL rank ', me, ': ', what, ' on ', trim(name)
    end subroutine check

    subroutine replayed()
        integer, asynchronous, target :: give(n * ranks), part(n), mine(n), total(n)
        integer, asynchronous, target :: everyones(n * ranks)
        integer :: recording, calls, merged, parts, before, now, t, i
        give = 0
        mine = 0
        call CRESTA_Record_begin(comm IERR)
        call CRESTA_Scatter(give, n, MPI_INTEGER, part, n, MPI_INTEGER, 0, comm IERR)
        call CRESTA_Allgather(mine, n, MPI_INTEGER, everyones, n, MPI_INTEGER, comm IERR)
        call CRESTA_Allreduce(mine, total, n, MPI_INTEGER, MPI_SUM, comm IERR)
        call CRESTA_Record_end(recording IERR)
        call check(recording /= CRESTA_RECORDING_NULL, 'a recording')
        do t = 1, turns
            give = [(t * i, i=1, n * ranks)]
            mine = [(100 * me + t + i, i=1, n)]
            call CRESTA_Replay_start(recording IERR)
            call CRESTA_Replay_end(recording IERR)
            call check(all(part == [(t * (n * me + i), i=1, n)]), 'scattered')
            call check(all(everyones == [(100 * ((i - 1) / n) + t + mod(i - 1, n) + 1, &
                i=1, n * ranks)]), 'gathered')
            call check(all(total == [(50 * ranks * (ranks - 1) + ranks * (t + i), i=1, n)]), 'sums')
        end do
        call CRESTA_Recording_info(recording, calls, merged, parts, before, now IERR)
        call check(calls == 3 .and. (merged == 3 .and. parts == 1 .or. merged == 0), 'info')
        call CRESTA_Recording_free(recording IERR)
        call check(recording == CRESTA_RECORDING_NULL, 'a recording that is freed')
    end subroutine replayed

    subroutine gaps_are_refused()
        integer :: wide(2 * n), total(n), recording, rc
        wide = me
        call CRESTA_Record_begin(comm IERR)
        call CRESTA_Allreduce(wide(1::2), total, n, MPI_INTEGER, MPI_SUM, comm IERR)
        call check(all(total == ranks * (ranks - 1) / 2), 'a call with a section')
        call CRESTA_Record_end(recording, rc)
        call check(rc == MPI_ERR_OTHER .and. recording == CRESTA_RECORDING_NULL, 'gaps')
    end subroutine gaps_are_refused
end program recordings
