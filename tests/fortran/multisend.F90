! SPDX-License-Identifier: BSD-3-Clause
!> Sends to lists of ranks in Fortran: exchanges, a multicast with a call-back and flags, a
!> many-to-many, requests for each neighbour, a section with gaps.
#include "binding.inc"
module heard
    use, intrinsic :: iso_c_binding, only: c_int, c_ptr
    implicit none
    integer :: told = 0, from = -1
contains
    subroutine arrived(context, i, source, data) bind(c)
        type(c_ptr), value :: context, data
        integer(c_int), value :: i, source
        told = told + 1 + i
        from = source
    end subroutine arrived
end module heard

program multisend
    USE_MPI
    use cresta_multisend
    use heard
    use, intrinsic :: iso_c_binding, only: c_associated, c_funloc, c_null_ptr, c_ptr
    implicit none
    INCLUDE_MPI
    integer :: me, ranks, next, before, ierr, checks, failures
    HANDLE(MPI_Comm) :: comm

    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
    next = mod(me + 1, ranks)
    before = mod(me + ranks - 1, ranks)
    checks = 0
    failures = 0
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)
    call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN, ierr)
    call exchange()
    call begun()
    call multicast()
    call manytomany()
    call neighbors()
    call gaps()
    call MPI_Comm_free(comm, ierr)
    call MPI_Finalize(ierr)
    if (me == 0) write (*, '(a,i0,a)') 'multisend: ', checks, ' checks'
    if (failures > 0 .or. checks == 0) error stop 1

contains

    subroutine check(good, what)
        logical, intent(in) :: good
        character(*), intent(in) :: what
        checks = checks + 1
        if (good) return
        failures = failures + 1
        write (*, '(a,i0,2a)') 'FAIL rank ', me, ': ', what
    end subroutine check

    !> Each rank sends its number to the next, and two numbers to rank 0.
    subroutine exchange()
        integer :: n, elements, i
        integer, allocatable :: got(:), sources(:), counts(:), displs(:)
        call CRESTA_Exchange([me, 7, me], [1, 2], [0, 1], MPI_INTEGER, 2, [next, 0], n, &
            elements, comm, ierr)
        call check(ierr == MPI_SUCCESS .and. n == merge(ranks + 1, 1, me == 0) &
            .and. elements == merge(2 * ranks + 1, 1, me == 0), 'what has come')
        allocate (got(elements), sources(n), counts(n), displs(n))
        call CRESTA_Exchange_take(got, sources, counts, displs, MPI_INTEGER, comm)
        do i = 1, n
            if (counts(i) == 1) call check(sources(i) == before .and. &
                got(displs(i) + 1) == before, 'from the one before')
            if (counts(i) == 2) call check(me == 0 .and. got(displs(i) + 1) == 7 .and. &
                got(displs(i) + 2) == sources(i), 'to rank 0')
        end do
    end subroutine exchange

    !> A ring, begun, while something else goes on.
    subroutine begun()
        integer, asynchronous :: give(2), n, elements
        integer :: got(2), sources(1), counts(1), displs(1)
        HANDLE(MPI_Request) :: request
        give = [me, 7 * me]
        n = -1
        call CRESTA_Exchange_begin(give, [2], [0], MPI_INTEGER, 1, [next], n, elements, comm, &
            request, ierr)
        call check(ierr == MPI_SUCCESS, 'a begin')
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
        call check(ierr == MPI_SUCCESS .and. n == 1 .and. elements == 2, 'what has come then')
        call CRESTA_Exchange_take(got, sources, counts, displs, MPI_INTEGER, comm)
        call check(sources(1) == before .and. all(got == [before, 7 * before]), 'its data')
    end subroutine begun

    subroutine multicast()
        integer, asynchronous :: give, get(2), flags(2)
        integer :: step
        logical :: over
        type(c_ptr) :: cast
        call CRESTA_Multicast_init(give, 1, 1, [next], get, [1], [1], 1, [before], MPI_INTEGER, &
            comm, cast)
        call CRESTA_Multisend_notify(cast, c_funloc(arrived), c_null_ptr, flags)
        do step = 1, 5
            give = 10 * me + step
            get = -1
            call CRESTA_Multisend_start(cast)
            if (mod(step, 2) == 0) call CRESTA_Multisend_wait(cast, ierr)
            over = .false.
            do while (.not. over)
                call CRESTA_Multisend_test(cast, over)
            end do
            call check(get(2) == 10 * before + step .and. get(1) == -1, 'a multicast')
            call check(told == step .and. from == before .and. flags(1) == 1, 'a call-back')
        end do
        call CRESTA_Multisend_free(cast)
        call check(.not. c_associated(cast), 'a multisend that is free')
    end subroutine multicast

    subroutine manytomany()
        integer, asynchronous :: give(ranks), get(ranks)
        integer :: i, ones(ranks), places(ranks), all(ranks)
        type(c_ptr) :: many
        do i = 1, ranks
            give(i) = 100 * me + i - 1
            ones(i) = 1
            places(i) = i - 1
            all(i) = i - 1
        end do
        call CRESTA_Manytomany_init(give, ones, places, ranks, all, get, ones, places, ranks, &
            all, MPI_INTEGER, comm, many, ierr)
        call CRESTA_Multisend_start(many)
        call CRESTA_Multisend_wait(many)
        call check(all_right(get), 'a many-to-many')
        call CRESTA_Multisend_free(many)
    end subroutine manytomany

    logical function all_right(get)
        integer, intent(in) :: get(ranks)
        integer :: i
        all_right = all([(get(i) == 100 * (i - 1) + me, i = 1, ranks)])
    end function all_right

    subroutine neighbors()
        integer, asynchronous :: give(2), get(2)
        HANDLE(MPI_Comm) :: grid
        HANDLE(MPI_Request) :: requests(4)
        call MPI_Cart_create(comm, 1, [ranks], [.true.], .false., grid, ierr)
        give = [10 * me, 10 * me + 1]
        get = -1
        call CRESTA_Sneighbor_alltoall(give, 1, MPI_INTEGER, get, 1, MPI_INTEGER, grid, requests)
        call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE, ierr)
        call check(get(1) == 10 * before + 1 .and. get(2) == 10 * next, 'neighbours of a ring')
        call MPI_Comm_free(grid, ierr)
    end subroutine neighbors

    !> What is sent and received has gaps; the copy of what is sent stays until the end.
    subroutine gaps()
        integer, asynchronous :: n, elements
        integer :: give(6), got(4), sources(1), counts(1), displs(1)
        HANDLE(MPI_Request) :: request
        give = [me, -1, me + 1, -1, me + 2, -1]
        got = -2
        call CRESTA_Exchange_begin(give(1:6:2), [2], [1], MPI_INTEGER, 1, [next], n, elements, &
            comm, request, ierr)
        call check(ierr == MPI_SUCCESS, 'a begun exchange with gaps')
        give = -3
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
        call check(ierr == MPI_SUCCESS .and. n == 1 .and. elements == 2, 'its end')
        call CRESTA_Exchange_take(got(1:3:2), sources, counts, displs, MPI_INTEGER, comm, ierr)
        call check(all(got == [before + 1, -2, before + 2, -2]) .and. ierr == MPI_SUCCESS, &
            'what it brought, to places with gaps')
        give = [me, -1, me + 1, -1, me + 2, -1]
        call CRESTA_Exchange(give(1:6:2), [2], [1], MPI_INTEGER, 1, [next], n, elements, comm, ierr)
        call check(ierr == MPI_SUCCESS .and. n == 1 .and. elements == 2, 'the same, blocking')
        call CRESTA_Exchange_take(got(2:4:2), sources, counts, displs, MPI_INTEGER, comm, ierr)
        call check(all(got == [before + 1, before + 1, before + 2, before + 2]), 'and its end')
    end subroutine gaps
end program multisend
