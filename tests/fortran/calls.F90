! SPDX-License-Identifier: BSD-3-Clause
!> Every collective once in every mode, on a communicator named "once", or on one after the other
!> that the arguments name, for which CRESTA_IMPL has rules; results are checked.
!> Plain: under the preload library, tests/python/test_library_seen_once.py counts the calls.
!> LINKED: CRESTA_x.
#include "binding.inc"
program calls
    USE_MPI
    implicit none
    INCLUDE_MPI
    integer, parameter :: most = 16
    integer, asynchronous :: me, ranks, word, total, all(most), table(most)
    integer :: i, ierr, checks, failures
    character(16) :: name
    integer :: ones(most), places(most), bytes(most)
    HANDLE(MPI_Datatype) :: types(most)
    HANDLE(MPI_Comm) :: comm
    HANDLE(MPI_Request) :: request

    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
    failures = 0
    checks = 0
    ones = 1
    places = [(i - 1, i = 1, most)]
    bytes = 4 * places
    table = places
    types = MPI_INTEGER
    if (command_argument_count() == 0) call on('once')
    do i = 1, command_argument_count()
        call get_command_argument(i, name)
        call on(name)
    end do
    call MPI_Finalize(ierr)
    if (me == 0) write (*, '(a,i0,a)') 'calls: ', checks, ' checks'
    if (failures > 0) error stop 1

contains

    !> Everything on a communicator of this name.
    subroutine on(given)
        character(*), intent(in) :: given
        name = given
        call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)
        call MPI_Comm_set_name(comm, trim(name), ierr)
        call blocking()
        call blocking_reductions()
        call nonblocking()
        call nonblocking_reductions()
#if defined(PERSISTENT)
        call persistent()
        call persistent_reductions()
#endif
        call MPI_Comm_free(comm, ierr)
    end subroutine on

    !> What comes before a call: no result of an earlier one must be left.
    subroutine fresh()
        all = -1
        total = -1
        word = merge(42, -1, me == 0)
    end subroutine fresh

    subroutine check(good, what)
        logical, intent(in) :: good
        character(*), intent(in) :: what
        checks = checks + 1
        if (.not. good) then
            failures = failures + 1
            write (*, '(a,i0,4a)') 'FAIL rank ', me, ': ', what, ' on ', trim(name)
        end if
        call fresh()
    end subroutine check

    logical function in_order()
        in_order = all(1) == 0 .and. all(ranks) == ranks - 1 &
            .and. sum(all(1:ranks)) == triangle(ranks)
    end function in_order

    logical function all_mine()
        integer :: k
        all_mine = .true.
        do k = 1, ranks
            all_mine = all_mine .and. all(k) == me
        end do
    end function all_mine

    integer function triangle(n)
        integer, intent(in) :: n
        triangle = n * (n - 1) / 2
    end function triangle

    subroutine blocking()
        call fresh()
        call MPI_Barrier(comm IERR)
        call MPI_Bcast(word, 1, MPI_INTEGER, 0, comm IERR)
        call check(word == 42, 'blocking bcast')
        call MPI_Gather(me, 1, MPI_INTEGER, all, 1, MPI_INTEGER, 0, comm IERR)
        call check(me /= 0 .or. in_order(), 'blocking gather')
        call MPI_Gatherv(me, 1, MPI_INTEGER, all, ones, places, MPI_INTEGER, 0, comm IERR)
        call check(me /= 0 .or. in_order(), 'blocking gatherv')
        call MPI_Scatter(table, 1, MPI_INTEGER, word, 1, MPI_INTEGER, 0, comm IERR)
        call check(word == me, 'blocking scatter')
        call MPI_Scatterv(table, ones, places, MPI_INTEGER, word, 1, MPI_INTEGER, 0, comm IERR)
        call check(word == me, 'blocking scatterv')
        call MPI_Allgather(me, 1, MPI_INTEGER, all, 1, MPI_INTEGER, comm IERR)
        call check(in_order(), 'blocking allgather')
        call MPI_Allgatherv(me, 1, MPI_INTEGER, all, ones, places, MPI_INTEGER, comm IERR)
        call check(in_order(), 'blocking allgatherv')
        call MPI_Alltoall(table, 1, MPI_INTEGER, all, 1, MPI_INTEGER, comm IERR)
        call check(all_mine(), 'blocking alltoall')
        call MPI_Alltoallv(table, ones, places, MPI_INTEGER, all, ones, places, MPI_INTEGER, &
            comm IERR)
        call check(all_mine(), 'blocking alltoallv')
        call MPI_Alltoallw(table, ones, bytes, types, all, ones, bytes, types, comm IERR)
        call check(all_mine(), 'blocking alltoallw')
    end subroutine blocking

    subroutine blocking_reductions()
        call fresh()
        call MPI_Reduce(me, total, 1, MPI_INTEGER, MPI_SUM, 0, comm IERR)
        call check(me /= 0 .or. total == triangle(ranks), 'blocking reduce')
        call MPI_Allreduce(me, total, 1, MPI_INTEGER, MPI_SUM, comm IERR)
        call check(total == triangle(ranks), 'blocking allreduce')
        call MPI_Reduce_scatter(table, total, ones, MPI_INTEGER, MPI_SUM, comm IERR)
        call check(total == ranks * me, 'blocking reduce_scatter')
        call MPI_Reduce_scatter_block(table, total, 1, MPI_INTEGER, MPI_SUM, comm IERR)
        call check(total == ranks * me, 'blocking reduce_scatter_block')
        call MPI_Scan(me, total, 1, MPI_INTEGER, MPI_SUM, comm IERR)
        call check(total == triangle(me + 1), 'blocking scan')
        call MPI_Exscan(me, total, 1, MPI_INTEGER, MPI_SUM, comm IERR)
        call check(me == 0 .or. total == triangle(me), 'blocking exscan')
    end subroutine blocking_reductions

    subroutine nonblocking()
        call fresh()
        call MPI_Ibarrier(comm, request IERR)
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
        call MPI_Ibcast(word, 1, MPI_INTEGER, 0, comm, request IERR)
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
        call check(word == 42, 'nonblocking bcast')
        call MPI_Igather(me, 1, MPI_INTEGER, all, 1, MPI_INTEGER, 0, comm, request IERR)
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
        call check(me /= 0 .or. in_order(), 'nonblocking gather')
        call MPI_Igatherv(me, 1, MPI_INTEGER, all, ones, places, MPI_INTEGER, 0, comm, request IERR)
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
        call check(me /= 0 .or. in_order(), 'nonblocking gatherv')
        call MPI_Iscatter(table, 1, MPI_INTEGER, word, 1, MPI_INTEGER, 0, comm, request IERR)
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
        call check(word == me, 'nonblocking scatter')
        call MPI_Iscatterv(table, ones, places, MPI_INTEGER, word, 1, MPI_INTEGER, 0, comm, &
            request IERR)
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
        call check(word == me, 'nonblocking scatterv')
        call MPI_Iallgather(me, 1, MPI_INTEGER, all, 1, MPI_INTEGER, comm, request IERR)
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
        call check(in_order(), 'nonblocking allgather')
        call MPI_Iallgatherv(me, 1, MPI_INTEGER, all, ones, places, MPI_INTEGER, comm, request IERR)
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
        call check(in_order(), 'nonblocking allgatherv')
        call MPI_Ialltoall(table, 1, MPI_INTEGER, all, 1, MPI_INTEGER, comm, request IERR)
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
        call check(all_mine(), 'nonblocking alltoall')
        call MPI_Ialltoallv(table, ones, places, MPI_INTEGER, all, ones, places, MPI_INTEGER, &
            comm, request IERR)
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
        call check(all_mine(), 'nonblocking alltoallv')
        call MPI_Ialltoallw(table, ones, bytes, types, all, ones, bytes, types, comm, request IERR)
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
        call check(all_mine(), 'nonblocking alltoallw')
    end subroutine nonblocking

    subroutine nonblocking_reductions()
        call fresh()
        call MPI_Ireduce(me, total, 1, MPI_INTEGER, MPI_SUM, 0, comm, request IERR)
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
        call check(me /= 0 .or. total == triangle(ranks), 'nonblocking reduce')
        call MPI_Iallreduce(me, total, 1, MPI_INTEGER, MPI_SUM, comm, request IERR)
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
        call check(total == triangle(ranks), 'nonblocking allreduce')
        call MPI_Ireduce_scatter(table, total, ones, MPI_INTEGER, MPI_SUM, comm, request IERR)
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
        call check(total == ranks * me, 'nonblocking reduce_scatter')
        call MPI_Ireduce_scatter_block(table, total, 1, MPI_INTEGER, MPI_SUM, comm, request IERR)
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
        call check(total == ranks * me, 'nonblocking reduce_scatter_block')
        call MPI_Iscan(me, total, 1, MPI_INTEGER, MPI_SUM, comm, request IERR)
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
        call check(total == triangle(me + 1), 'nonblocking scan')
        call MPI_Iexscan(me, total, 1, MPI_INTEGER, MPI_SUM, comm, request IERR)
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
        call check(me == 0 .or. total == triangle(me), 'nonblocking exscan')
    end subroutine nonblocking_reductions

#if defined(PERSISTENT)
    subroutine persistent()
        call fresh()
        call MPI_Barrier_init(comm, MPI_INFO_NULL, request IERR)
        call run_once()
        call MPI_Bcast_init(word, 1, MPI_INTEGER, 0, comm, MPI_INFO_NULL, request IERR)
        call run_once()
        call check(word == 42, 'persistent bcast')
        call MPI_Gather_init(me, 1, MPI_INTEGER, all, 1, MPI_INTEGER, 0, comm, MPI_INFO_NULL, &
            request IERR)
        call run_once()
        call check(me /= 0 .or. in_order(), 'persistent gather')
        call MPI_Gatherv_init(me, 1, MPI_INTEGER, all, ones, places, MPI_INTEGER, 0, comm, &
            MPI_INFO_NULL, request IERR)
        call run_once()
        call check(me /= 0 .or. in_order(), 'persistent gatherv')
        call MPI_Scatter_init(table, 1, MPI_INTEGER, word, 1, MPI_INTEGER, 0, comm, &
            MPI_INFO_NULL, request IERR)
        call run_once()
        call check(word == me, 'persistent scatter')
        call MPI_Scatterv_init(table, ones, places, MPI_INTEGER, word, 1, MPI_INTEGER, 0, comm, &
            MPI_INFO_NULL, request IERR)
        call run_once()
        call check(word == me, 'persistent scatterv')
        call MPI_Allgather_init(me, 1, MPI_INTEGER, all, 1, MPI_INTEGER, comm, MPI_INFO_NULL, &
            request IERR)
        call run_once()
        call check(in_order(), 'persistent allgather')
        call MPI_Allgatherv_init(me, 1, MPI_INTEGER, all, ones, places, MPI_INTEGER, comm, &
            MPI_INFO_NULL, request IERR)
        call run_once()
        call check(in_order(), 'persistent allgatherv')
        call MPI_Alltoall_init(table, 1, MPI_INTEGER, all, 1, MPI_INTEGER, comm, MPI_INFO_NULL, &
            request IERR)
        call run_once()
        call check(all_mine(), 'persistent alltoall')
        call MPI_Alltoallv_init(table, ones, places, MPI_INTEGER, all, ones, places, &
            MPI_INTEGER, comm, MPI_INFO_NULL, request IERR)
        call run_once()
        call check(all_mine(), 'persistent alltoallv')
        call MPI_Alltoallw_init(table, ones, bytes, types, all, ones, bytes, types, comm, &
            MPI_INFO_NULL, request IERR)
        call run_once()
        call check(all_mine(), 'persistent alltoallw')
    end subroutine persistent

    subroutine persistent_reductions()
        call fresh()
        call MPI_Reduce_init(me, total, 1, MPI_INTEGER, MPI_SUM, 0, comm, MPI_INFO_NULL, &
            request IERR)
        call run_once()
        call check(me /= 0 .or. total == triangle(ranks), 'persistent reduce')
        call MPI_Allreduce_init(me, total, 1, MPI_INTEGER, MPI_SUM, comm, MPI_INFO_NULL, &
            request IERR)
        call run_once()
        call check(total == triangle(ranks), 'persistent allreduce')
        call MPI_Reduce_scatter_init(table, total, ones, MPI_INTEGER, MPI_SUM, comm, &
            MPI_INFO_NULL, request IERR)
        call run_once()
        call check(total == ranks * me, 'persistent reduce_scatter')
        call MPI_Reduce_scatter_block_init(table, total, 1, MPI_INTEGER, MPI_SUM, comm, &
            MPI_INFO_NULL, request IERR)
        call run_once()
        call check(total == ranks * me, 'persistent reduce_scatter_block')
        call MPI_Scan_init(me, total, 1, MPI_INTEGER, MPI_SUM, comm, MPI_INFO_NULL, request IERR)
        call run_once()
        call check(total == triangle(me + 1), 'persistent scan')
        call MPI_Exscan_init(me, total, 1, MPI_INTEGER, MPI_SUM, comm, MPI_INFO_NULL, request IERR)
        call run_once()
        call check(me == 0 .or. total == triangle(me), 'persistent exscan')
    end subroutine persistent_reductions

    subroutine run_once()
        call MPI_Start(request, ierr)
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
        call MPI_Request_free(request, ierr)
    end subroutine run_once
#endif
end program calls
