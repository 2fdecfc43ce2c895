! SPDX-License-Identifier: BSD-3-Clause
!> Accumulates on windows whose ranks share memory: every call and binding, array sections,
!> requests.
!> The window has no epoch at first: most MPIs refuse accumulates then, and ours succeed; that shows
!> whose they are.
#include "binding.inc"
program atomics
    use, intrinsic :: iso_c_binding, only: c_ptr
    USE_MPI
    implicit none
    INCLUDE_MPI
    integer, parameter :: rounds = 200
    integer :: me, ranks, ierr, k, failures, word, old
    integer :: many(10), got(10)
    integer(kind=MPI_ADDRESS_KIND) :: bytes, at
    HANDLE(MPI_Win) :: win
    HANDLE(MPI_Request) :: request
#if defined(BINDING_MPIF)
    integer(kind=MPI_ADDRESS_KIND) :: base
#else
    type(c_ptr) :: base
#endif

    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
    failures = 0
    bytes = 400
    call MPI_Win_allocate(bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, win, ierr)
    call everything()
    call MPI_Win_free(win, ierr)
    call MPI_Win_allocate_shared(bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, win, ierr)
    call everything()
    call MPI_Win_free(win, ierr)
    call MPI_Finalize(ierr)
    if (failures > 0) error stop 1

contains

    subroutine check(good, what)
        logical, intent(in) :: good
        character(*), intent(in) :: what
        if (.not. good) write (*, '(a,i0,a,a)') 'FAIL rank ', me, ': ', what
        if (.not. good) failures = failures + 1
    end subroutine check

    subroutine everything()
        call MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN, ierr)
        many = 0
        do k = 0, 99
            at = k
            word = 0
            call MPI_Accumulate(word, 1, MPI_INTEGER, me, at, 1, MPI_INTEGER, MPI_REPLACE, win, &
                ierr)
            call check(ierr == MPI_SUCCESS, 'accumulate without an epoch')
        end do
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
        call without_epochs()
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
        call MPI_Win_lock_all(0, win, ierr)
        call counters()
        call rows()
        call MPI_Win_unlock_all(win, ierr)
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
    end subroutine everything

    !> At this rank's own memory, word 50.
    subroutine without_epochs()
        at = 50
        word = 3
        call MPI_Fetch_and_op(word, old, MPI_INTEGER, me, at, MPI_SUM, win, ierr)
        call check(ierr == MPI_SUCCESS .and. old == 0, 'fetch_and_op without an epoch')
        word = 5
        k = 3
        call MPI_Compare_and_swap(word, k, old, MPI_INTEGER, me, at, win, ierr)
        call check(ierr == MPI_SUCCESS .and. old == 3, 'compare_and_swap without an epoch')
        call MPI_Get_accumulate(word, 1, MPI_INTEGER, old, 1, MPI_INTEGER, me, at, 1, MPI_INTEGER, &
            MPI_SUM, win, ierr)
        call check(ierr == MPI_SUCCESS .and. old == 5, 'get_accumulate without an epoch')
        call MPI_Raccumulate(word, 1, MPI_INTEGER, me, at, 1, MPI_INTEGER, MPI_SUM, win, request, &
            ierr)
        call check(ierr == MPI_SUCCESS, 'raccumulate without an epoch')
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
        call MPI_Rget_accumulate(word, 1, MPI_INTEGER, old, 1, MPI_INTEGER, me, at, 1, &
            MPI_INTEGER, MPI_NO_OP, win, request, ierr)
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
        call check(ierr == MPI_SUCCESS .and. old == 15, 'rget_accumulate without an epoch')
    end subroutine without_epochs

    subroutine counters()
        integer :: i, seen
        seen = 0
        at = 0
        word = 1
        do i = 1, rounds
            call MPI_Fetch_and_op(word, old, MPI_INTEGER, 0, at, MPI_SUM, win, ierr)
            call MPI_Win_flush(0, win, ierr)
            call check(old >= seen, 'a counter went back')
            seen = old
        end do
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
        call MPI_Fetch_and_op(word, old, MPI_INTEGER, 0, at, MPI_NO_OP, win, ierr)
        call MPI_Win_flush(0, win, ierr)
        call check(old == rounds * ranks, 'counter')
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
    end subroutine counters

    !> Ten words from 10 on, of the next rank: a row, and every other element of a section.
    subroutine rows()
        integer :: next
        next = mod(me + 1, ranks)
        at = 10
        many = [(k, k = 1, 10)]
        call MPI_Accumulate(many, 10, MPI_INTEGER, next, at, 10, MPI_INTEGER, MPI_REPLACE, win, &
            ierr)
        call MPI_Win_flush(next, win, ierr)
        got = -1
#if defined(BINDING_F08)
        call MPI_Get_accumulate(many(2:10:2), 5, MPI_INTEGER, got(1:9:2), 5, MPI_INTEGER, next, &
            at, 5, MPI_INTEGER, MPI_SUM, win, ierr)
        call MPI_Win_flush(next, win, ierr)
        call check(all(got == [1, -1, 2, -1, 3, -1, 4, -1, 5, -1]), 'what a section got')
        call MPI_Get_accumulate(many, 10, MPI_INTEGER, got, 10, MPI_INTEGER, next, at, 10, &
            MPI_INTEGER, MPI_NO_OP, win, ierr)
        call MPI_Win_flush(next, win, ierr)
        call check(all(got == [3, 6, 9, 12, 15, 6, 7, 8, 9, 10]), 'what a section added')
#else
        call MPI_Get_accumulate(many, 10, MPI_INTEGER, got, 10, MPI_INTEGER, next, at, 10, &
            MPI_INTEGER, MPI_SUM, win, ierr)
        call MPI_Win_flush(next, win, ierr)
        call check(all(got == many), 'a row')
#endif
    end subroutine rows
end program atomics
