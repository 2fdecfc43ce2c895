! SPDX-License-Identifier: BSD-3-Clause
!> Every neighbourhood collective in every mode, where all ranks are neighbours, on communicators
!> that the arguments name, for which CRESTA_IMPL has rules; the neighbours that give come in the
!> order of ranks, those that get in the opposite one.
#include "binding.inc"
program neighbors
    USE_MPI
    implicit none
    INCLUDE_MPI
    integer, parameter :: most = 16
    integer, asynchronous :: me, ranks, all(most), table(most)
    integer :: i, ierr, checks, failures
    character(16) :: name
    integer :: ones(most), places(most), up(most), down(most)
    integer(MPI_ADDRESS_KIND) :: addresses(most)
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
    addresses = 4 * places
    types = MPI_INTEGER
    up(1:ranks) = [(i - 1, i = 1, ranks)]
    down(1:ranks) = [(ranks - i, i = 1, ranks)]
    table = 0
    table(1:ranks) = 100 * me + down(1:ranks)          ! for whom it is
    do i = 1, command_argument_count()
        call get_command_argument(i, name)
        call on(name)
    end do
    call MPI_Finalize(ierr)
    if (me == 0) write (*, '(a,i0,a)') 'neighbors: ', checks, ' checks'
    if (failures > 0) error stop 1

contains

    subroutine on(given)
        character(*), intent(in) :: given
        name = given
        call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, ranks, up, MPI_UNWEIGHTED, ranks, &
            down, MPI_UNWEIGHTED, MPI_INFO_NULL, .false., comm, ierr)
        call MPI_Comm_set_name(comm, trim(name), ierr)
        all = -1
        call blocking()
        call nonblocking()
#if defined(PERSISTENT)
        call persistent()
#endif
#if defined(LINKED)
        call reductions()
#endif
        call MPI_Comm_free(comm, ierr)
    end subroutine on

    subroutine check(good, what)
        logical, intent(in) :: good
        character(*), intent(in) :: what
        checks = checks + 1
        if (.not. good) then
            failures = failures + 1
            write (*, '(a,i0,4a)') 'FAIL rank ', me, ': ', what, ' on ', trim(name)
        end if
        all = -1
    end subroutine check

    logical function gathered()
        gathered = sum(abs(all(1:ranks) - up(1:ranks))) == 0 .and. all(ranks + 1) == -1
    end function gathered

    logical function exchanged()
        exchanged = sum(abs(all(1:ranks) - 100 * up(1:ranks) - me)) == 0 .and. all(ranks + 1) == -1
    end function exchanged

    subroutine blocking()
        call MPI_Neighbor_allgather(me, 1, MPI_INTEGER, all, 1, MPI_INTEGER, comm IERR)
        call check(gathered(), 'blocking allgather')
        call MPI_Neighbor_allgatherv(me, 1, MPI_INTEGER, all, ones, places, MPI_INTEGER, comm IERR)
        call check(gathered(), 'blocking allgatherv')
        call MPI_Neighbor_alltoall(table, 1, MPI_INTEGER, all, 1, MPI_INTEGER, comm IERR)
        call check(exchanged(), 'blocking alltoall')
        call MPI_Neighbor_alltoallv(table, ones, places, MPI_INTEGER, all, ones, places, &
            MPI_INTEGER, comm IERR)
        call check(exchanged(), 'blocking alltoallv')
        call MPI_Neighbor_alltoallw(table, ones, addresses, types, all, ones, addresses, types, &
            comm IERR)
        call check(exchanged(), 'blocking alltoallw')
    end subroutine blocking

#if defined(LINKED)
    ! No MPI has them: what a rank sends to all, and what it sends to each, by those that give.
    subroutine reductions()
        integer, asynchronous :: sum_of_all(2)
        integer :: rc
#  if !defined(SPLIT)
        integer :: recording, round
#  endif
        sum_of_all = -1
#  if defined(SPLIT)
        call CRESTA_Neighbor_reduce_begin(me, sum_of_all, 1, MPI_INTEGER, MPI_SUM, comm, &
            request, rc)
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
        call check(rc == MPI_SUCCESS .and. all_of(sum_of_all, sum(up(1:ranks))), 'begun reduce')
        call CRESTA_Neighbor_alltoall_reduce_begin(table, sum_of_all, 1, MPI_INTEGER, MPI_SUM, &
            comm, request, rc)
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
        call check(all_of(sum_of_all, 100 * sum(up(1:ranks)) + ranks * me), 'begun alltoall_reduce')
#  else
        call CRESTA_Neighbor_reduce(me, sum_of_all, 1, MPI_INTEGER, MPI_SUM, comm, rc)
        call check(rc == MPI_SUCCESS .and. all_of(sum_of_all, sum(up(1:ranks))), 'reduce')
        sum_of_all(1) = me
        call CRESTA_Neighbor_reduce(MPI_IN_PLACE, sum_of_all, 1, MPI_INTEGER, MPI_MAX, comm, rc)
        call check(all_of(sum_of_all, ranks - 1), 'reduce in place')
        call CRESTA_Neighbor_alltoall_reduce(table, sum_of_all, 1, MPI_INTEGER, MPI_SUM, comm)
        call check(all_of(sum_of_all, 100 * sum(up(1:ranks)) + ranks * me), 'alltoall_reduce')
        call CRESTA_Neighbor_alltoall_reduce_init(table, sum_of_all, 1, MPI_INTEGER, MPI_SUM, &
            comm, recording)
        do round = 1, 2
            sum_of_all = -1
            call CRESTA_Replay_start(recording)
            call CRESTA_Replay_end(recording)
            call check(all_of(sum_of_all, 100 * sum(up(1:ranks)) + ranks * me), 'persistent')
        end do
        call CRESTA_Recording_free(recording)
#  endif
    end subroutine reductions

    logical function all_of(got, expected)
        integer, intent(in) :: got(2), expected
        all_of = got(1) == expected .and. got(2) == -1
    end function all_of
#endif

    subroutine nonblocking()
        call MPI_Ineighbor_allgather(me, 1, MPI_INTEGER, all, 1, MPI_INTEGER, comm, request IERR)
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
        call check(gathered(), 'nonblocking allgather')
        call MPI_Ineighbor_allgatherv(me, 1, MPI_INTEGER, all, ones, places, MPI_INTEGER, comm, &
            request IERR)
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
        call check(gathered(), 'nonblocking allgatherv')
        call MPI_Ineighbor_alltoall(table, 1, MPI_INTEGER, all, 1, MPI_INTEGER, comm, request IERR)
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
        call check(exchanged(), 'nonblocking alltoall')
        call MPI_Ineighbor_alltoallv(table, ones, places, MPI_INTEGER, all, ones, places, &
            MPI_INTEGER, comm, request IERR)
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
        call check(exchanged(), 'nonblocking alltoallv')
        call MPI_Ineighbor_alltoallw(table, ones, addresses, types, all, ones, addresses, types, &
            comm, request IERR)
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
        call check(exchanged(), 'nonblocking alltoallw')
    end subroutine nonblocking

#if defined(PERSISTENT)
    subroutine run_once()
        call MPI_Start(request, ierr)
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
        call MPI_Request_free(request, ierr)
    end subroutine run_once

    subroutine persistent()
        call MPI_Neighbor_allgather_init(me, 1, MPI_INTEGER, all, 1, MPI_INTEGER, comm, &
            MPI_INFO_NULL, request IERR)
        call run_once()
        call check(gathered(), 'persistent allgather')
        call MPI_Neighbor_alltoall_init(table, 1, MPI_INTEGER, all, 1, MPI_INTEGER, comm, &
            MPI_INFO_NULL, request IERR)
        call run_once()
        call check(exchanged(), 'persistent alltoall')
        call MPI_Neighbor_alltoallw_init(table, ones, addresses, types, all, ones, addresses, &
            types, comm, MPI_INFO_NULL, request IERR)
        call run_once()
        call check(exchanged(), 'persistent alltoallw')
    end subroutine persistent
#endif

end program neighbors
