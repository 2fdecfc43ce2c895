! SPDX-License-Identifier: BSD-3-Clause
!> Split-phase collectives in Fortran: requests alone, in arrays and sections of arrays, ended by
!> CRESTA_Coll_end, CRESTA_Coll_test and the MPI's own calls; arrays that are gone after the begin;
!> array sections; protected send buffers; blocks as they come. On one communicator after the other
!> that the arguments name: on "guarded", with CRESTA_PROTECTED_BUFFER=1, send buffers are
!> overwritten at once; for other names CRESTA_IMPL may have rules.
#include "binding.inc"
program split
    USE_MPI
    implicit none
    INCLUDE_MPI
    integer, parameter :: n = 8
    integer :: me, ranks, ierr, checks, failures, triangle, argument, round
    character(16) :: name
    logical :: guarded
    HANDLE(MPI_Comm) :: comm

    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
    triangle = ranks * (ranks - 1) / 2
    failures = 0
    checks = 0
    do argument = 1, command_argument_count()
        call get_command_argument(argument, name)
        guarded = name == 'guarded'
        call everything()
    end do
    call MPI_Finalize(ierr)
    if (me == 0) write (*, '(a,i0,a)') 'split: ', checks, ' checks'
    if (failures > 0 .or. checks == 0) error stop 1

contains

    subroutine everything()
        call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)
        call MPI_Comm_set_name(comm, trim(name), ierr)
        do round = 1, 10
            call alone()
            call many()
            call tested()
            call by_the_mpi()
            call beside_null()
            call arrays_that_pass()
            call sections()
            call in_place()
            call streamed()
        end do
        call gaps_are_refused()
        call repair()
        call MPI_Comm_free(comm, ierr)
    end subroutine everything

    subroutine check(good, what)
        logical, intent(in) :: good
        character(*), intent(in) :: what
        checks = checks + 1
        if (good) return
        failures = failures + 1
        write (*, '(a,i0,4a)') 'FAIL rank ', me, ': ', what, ' on ', trim(name)
    end subroutine check

    logical function is_null(request)
        HANDLE(MPI_Request), intent(in) :: request
        is_null = request == MPI_REQUEST_NULL
    end function is_null

    subroutine alone()
        integer, asynchronous :: x(1000), total(1000)
        HANDLE(MPI_Request) :: request
        x = me
        total = -1
        call CRESTA_Allreduce_begin(x, total, 1000, MPI_INTEGER, MPI_SUM, comm, request IERR)
        if (guarded) x = -99
        call CRESTA_Progress()
        call CRESTA_Coll_end(1, request)
        call check(all(total == triangle) .and. is_null(request), 'one request')
        call CRESTA_Coll_end(1, request IERR)
        call check(is_null(request), 'a request that ended')
    end subroutine alone

    !> Blocks of an alltoall, each read when it is reported, and reported once.
    subroutine streamed()
        integer, asynchronous :: x(4, 0:ranks - 1), y(4, 0:ranks - 1)
        integer :: blocks(ranks), n, i, turns, told(0:ranks - 1)
        HANDLE(MPI_Request) :: request
        do i = 0, ranks - 1
            x(:, i) = 100 * me + i
        end do
        y = -1
        told = 0
        call CRESTA_Alltoall_begin(x, 4, MPI_INTEGER, y, 4, MPI_INTEGER, comm, request IERR)
        do turns = 1, ranks + 1
            call CRESTA_Coll_some(request, 1 + mod(turns, ranks), blocks, n IERR)
            if (n == MPI_UNDEFINED) exit
            do i = 1, n
                told(blocks(i)) = told(blocks(i)) + 1
                call check(all(y(:, blocks(i)) == 100 * blocks(i) + me), 'a block that has come')
            end do
        end do
        call check(n == MPI_UNDEFINED .and. all(told == 1), 'each block is reported once')
        call CRESTA_Coll_testsome(request, 1, blocks, n)
        call check(n == MPI_UNDEFINED, 'after the last block')
        call CRESTA_Coll_end(1, request)
        call CRESTA_Coll_some(request, 1, blocks, n)
        call check(n == MPI_UNDEFINED .and. is_null(request), 'blocks of a request that ended')
    end subroutine streamed

    !> Every second element of an array of requests is somebody else's.
    subroutine many()
        integer, asynchronous :: x, total(n)
        integer :: k
        HANDLE(MPI_Request) :: requests(2 * n)
        x = me
        do k = 1, n
            requests(2 * k - 1) = MPI_REQUEST_NULL
            call CRESTA_Scan_begin(x, total(k), 1, MPI_INTEGER, MPI_SUM, comm, requests(2 * k) IERR)
        end do
        if (guarded) x = -99
        call CRESTA_Coll_end(n, requests(2:2 * n:2) IERR)
        call check(all(total == me * (me + 1) / 2), 'a section of an array of requests')
        do k = 1, 2 * n
            call check(is_null(requests(k)), 'requests after the end')
        end do
    end subroutine many

    subroutine tested()
        integer, asynchronous :: x(4), word(4)
        HANDLE(MPI_Request) :: requests(2)
        logical :: done
        x = me
        word = merge(5, -1, me == 0)
        call CRESTA_Bcast_begin(word, 4, MPI_INTEGER, 0, comm, requests(1) IERR)
        call CRESTA_Barrier_begin(comm, requests(2) IERR)
        done = .false.
        do while (.not. done)
            call CRESTA_Coll_test(2, requests, done IERR)
        end do
        call check(done .and. is_null(requests(1)) .and. all(word == 5), 'tested')
        call CRESTA_Coll_test(2, requests, done)
        call check(done, 'tested again')
    end subroutine tested

    !> Ended by the MPI's calls, mixed with a message of the program.
    subroutine by_the_mpi()
        integer, asynchronous :: x, y, total(3)
        integer :: k, at
        logical :: done
        HANDLE(MPI_Request) :: requests(4)
        x = me
        call MPI_Irecv(y, 1, MPI_INTEGER, modulo(me - 1, ranks), 3, comm, requests(1), ierr)
        call MPI_Isend(x, 1, MPI_INTEGER, modulo(me + 1, ranks), 3, comm, requests(2), ierr)
        call CRESTA_Allreduce_begin(x, total(1), 1, MPI_INTEGER, MPI_SUM, comm, requests(3) IERR)
        call CRESTA_Allreduce_begin(x, total(2), 1, MPI_INTEGER, MPI_MAX, comm, requests(4) IERR)
        call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE, ierr)
        call check(y == modulo(me - 1, ranks) .and. total(1) == triangle .and. &
            total(2) == ranks - 1, 'MPI_Waitall')
        total = -1
        do k = 1, 3
            call CRESTA_Allreduce_begin(x, total(k), 1, MPI_INTEGER, MPI_SUM, comm, &
                requests(k) IERR)
        end do
        do k = 1, 3
            call MPI_Waitany(3, requests, at, MPI_STATUS_IGNORE, ierr)
            ! (MPICH 4.0 counts `at` from 0 in mpi_f08.)
            call check(at /= MPI_UNDEFINED, 'MPI_Waitany')
        end do
        call check(all(total == triangle), 'three by MPI_Waitany')
        call CRESTA_Allreduce_begin(x, total(1), 1, MPI_INTEGER, MPI_MIN, comm, requests(1) IERR)
        done = .false.
        do while (.not. done)
            call MPI_Test(requests(1), done, MPI_STATUS_IGNORE, ierr)
        end do
        call check(total(1) == 0, 'MPI_Test')
    end subroutine by_the_mpi

    !> Nothing has failed, and under most MPIs nothing could be repaired: a message says so.
    subroutine repair()
        HANDLE(MPI_Comm) :: left
        integer :: rc, class
        call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN, ierr)
        call CRESTA_Comm_repair(comm, left, rc)
        call MPI_Error_class(rc, class, ierr)
        call check(class == MPI_ERR_UNSUPPORTED_OPERATION .and. left == MPI_COMM_NULL, &
                   'CRESTA_Comm_repair')
    end subroutine repair

    !> Null requests beside one that another rank is late for, in all that wait and test.
    subroutine beside_null()
        integer, asynchronous :: x, total
        integer :: k, at, found, places(2)
        logical :: done
        HANDLE(MPI_Request) :: requests(2)
        x = me
        call CRESTA_Comm_prepare(comm IERR) ! else begins are the MPI's own
        do k = 1, 6
            total = -1
            requests = MPI_REQUEST_NULL
            if (me == 1) call late()
            call CRESTA_Allreduce_begin(x, total, 1, MPI_INTEGER, MPI_SUM, comm, requests(2) IERR)
            done = .false.
            found = 0
            if (k == 1) call MPI_Waitany(2, requests, at, MPI_STATUS_IGNORE, ierr)
            if (k == 2) call MPI_Waitsome(2, requests, found, places, MPI_STATUSES_IGNORE, ierr)
            if (k == 3) call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
            do while (k == 4 .and. .not. done)
                call MPI_Testany(2, requests, at, done, MPI_STATUS_IGNORE, ierr)
            end do
            do while (k == 5 .and. found == 0)
                call MPI_Testsome(2, requests, found, places, MPI_STATUSES_IGNORE, ierr)
            end do
            do while (k == 6 .and. .not. done)
                call MPI_Testall(2, requests, done, MPI_STATUSES_IGNORE, ierr)
            end do
            call check(total == triangle, 'a sum beside a null request')
            call check(is_null(requests(2)), 'it ended beside a null request')
            if (k == 2 .or. k == 5) call check(found == 1, 'one ended beside a null request')
            call MPI_Waitsome(2, requests, found, places, MPI_STATUSES_IGNORE, ierr)
            call check(found == MPI_UNDEFINED, 'MPI_Waitsome of null requests')
        end do
    end subroutine beside_null

    !> The others are in their waits by now, most of the time; it is right if they are not.
    subroutine late()
        double precision :: start
        start = MPI_Wtime()
        do while (MPI_Wtime() < start + 5d-3)
        end do
    end subroutine late

    !> Counts, displacements and types that are overwritten and gone before the end.
    subroutine arrays_that_pass()
        integer, asynchronous, allocatable :: x(:), y(:), z(:)
        integer :: k
        HANDLE(MPI_Request) :: requests(2)
        allocate (x(0:ranks - 1), y(0:ranks - 1), z(0:ranks - 1))
        x = [(100 * me + k, k = 0, ranks - 1)]
        y = -1
        z = -1
        call begin_v(x, y, requests(1))
        call begin_w(x, z, requests(2))
        if (guarded) x = -99
        if (mod(round, 2) == 0) then
            call CRESTA_Coll_end(2, requests)
        else
            call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
        end if
        call check(all(y == [(100 * k + me, k = 0, ranks - 1)]), 'alltoallv with passing arrays')
        call check(all(z == y), 'alltoallw with passing arrays')
    end subroutine arrays_that_pass

    subroutine begin_v(x, y, request)
        integer, asynchronous, intent(in) :: x(0:)
        integer, asynchronous :: y(0:)
        HANDLE(MPI_Request), intent(out) :: request
        integer, allocatable :: counts(:), displs(:)
        integer :: k
        allocate (counts(ranks), displs(ranks))
        counts = 1
        displs = [(k, k = 0, ranks - 1)]
        call CRESTA_Alltoallv_begin(x, counts, displs, MPI_INTEGER, y, counts, displs, &
            MPI_INTEGER, comm, request IERR)
        counts = huge(1)
        displs = -7
        deallocate (counts, displs)
    end subroutine begin_v

    subroutine begin_w(x, y, request)
        integer, asynchronous, intent(in) :: x(0:)
        integer, asynchronous :: y(0:)
        HANDLE(MPI_Request), intent(out) :: request
        integer, allocatable :: counts(:), displs(:)
        HANDLE(MPI_Datatype), allocatable :: types(:)
        integer :: k
        allocate (counts(ranks), displs(ranks), types(ranks))
        counts = 1
        displs = [(4 * k, k = 0, ranks - 1)]
        do k = 1, ranks
            call MPI_Type_contiguous(1, MPI_INTEGER, types(k), ierr)
            call MPI_Type_commit(types(k), ierr)
        end do
        call CRESTA_Alltoallw_begin(x, counts, displs, types, y, counts, displs, types, comm, &
            request IERR)
        counts = huge(1)
        displs = -7
        do k = 1, ranks
            call MPI_Type_free(types(k), ierr)
        end do
        deallocate (counts, displs, types)
    end subroutine begin_w

    subroutine sections()
        integer, asynchronous :: x(40), y(60)
        HANDLE(MPI_Request) :: request
        x = me
        y = -1
        call CRESTA_Allgather_begin(x(1:40:4), 10, MPI_INTEGER, y, 10, MPI_INTEGER, comm, &
            request IERR)
        if (guarded) x = -99
        call CRESTA_Coll_end(1, request)
        call check(all(y(1:10) == 0) .and. all(y(10 * ranks - 9:10 * ranks) == ranks - 1), &
            'a section sent')
        y = merge(3, -1, me == 0)
        call CRESTA_Bcast_begin(y(1:20:2), 10, MPI_INTEGER, 0, comm, request IERR)
        call CRESTA_Coll_end(1, request)
        call check(all(y(1:20:2) == 3) .and. all(y(2:20:2) == merge(3, -1, me == 0)), &
            'a section received')
    end subroutine sections

    subroutine in_place()
        integer, asynchronous :: x(3)
        HANDLE(MPI_Request) :: request
        x = me
        call CRESTA_Allreduce_begin(MPI_IN_PLACE, x, 3, MPI_INTEGER, MPI_SUM, comm, request IERR)
        call CRESTA_Coll_end(1, request)
        call check(all(x == triangle), 'in place')
    end subroutine in_place

    !> Where no count and type describe a section: an error, and no request.
    subroutine gaps_are_refused()
        integer, asynchronous :: x(20), y(20)
        integer :: code
        HANDLE(MPI_Request) :: request
        x = me
        y = -1
        call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN, ierr)
        code = MPI_SUCCESS
        call CRESTA_Allreduce_begin(x(1:20:2), y, 10, MPI_INTEGER, MPI_SUM, comm, request, code)
        call check(code /= MPI_SUCCESS .and. all(y == -1) .and. is_null(request), &
            'a section in a reduction')
    end subroutine gaps_are_refused
end program split
