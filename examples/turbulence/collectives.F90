! SPDX-License-Identifier: BSD-3-Clause
! collectives.F90 - every collective call of the program, timed.
!
! Plain MPI by default. With -D_CRESTA_COLLECTIVES the same calls go to crestacoll by the idiom of
! the CRESTA document; nothing outside this file knows.
module collectives
    use kinds, only: dp
    use mpi
#if defined(_CRESTA_COLLECTIVES)
    use crestacoll
    use cresta_sp_coll
#endif
    implicit none
    private
    public :: group, blocks, make_group, exchange, prepare, begin_exchange, end_exchange
    public :: global_sum, global_max, max_over_ranks
    public :: tally, tallies, forget_tallies

    !> A communicator with what is asked about it again and again.
    type :: group
        integer :: comm = MPI_COMM_NULL
        integer :: size = 1
        integer :: rank = 0
        character(8) :: name = ''
    end type group

    !> Who sends how much to whom in one transpose, counted in complex numbers. Equal blocks
    !> (equal on all ranks of the group) allow MPI_Alltoall, all others need MPI_Alltoallv.
    type :: blocks
        logical :: equal = .false.
        integer, allocatable :: send_count(:), send_start(:), recv_count(:), recv_start(:)
    end type blocks

    !> What the program has spent in one collective on one communicator.
    type :: tally
        character(24) :: name = ''
        integer :: calls = 0
        real(dp) :: seconds = 0
    end type tally

    integer, parameter :: most = 9      !< all-to-alls, begins and ends on row and on col, allreduce
    type(tally) :: ledger(most)
    integer :: used = 0

contains

    !> Split the world: ranks of one `color` form a group, ordered by `key`.
    function make_group(color, key, name) result(g)
        integer, intent(in) :: color, key
        character(*), intent(in) :: name
        type(group) :: g
        integer :: ierror

        g%name = name
        call MPI_Comm_split(MPI_COMM_WORLD, color, key, g%comm, ierror)
        call MPI_Comm_set_name(g%comm, name, ierror)
        call MPI_Comm_size(g%comm, g%size, ierror)
        call MPI_Comm_rank(g%comm, g%rank, ierror)
    end function make_group

    !> Before exchanges begin in a group. Without it their begins are the MPI's own, whatever the
    !> rules say. Plain MPI has nothing to prepare.
    subroutine prepare(g)
        type(group), intent(in) :: g
#if defined(_CRESTA_COLLECTIVES)
        integer :: ierror

        call CRESTA_Comm_prepare(g%comm, ierror)
#else
        if (g%size < 1) error stop 'a group of nobody'
#endif
    end subroutine prepare

    !> All-to-all exchange of blocks within a group: the communication of a transpose.
    subroutine exchange(send, recv, b, g)
        complex(dp), contiguous, intent(in) :: send(:)
        complex(dp), contiguous, intent(inout) :: recv(:)
        type(blocks), intent(in) :: b
        type(group), intent(in) :: g
        real(dp) :: start
        integer :: ierror

        start = MPI_Wtime()
        if (b%equal) then
#if defined(_CRESTA_COLLECTIVES)
            call CRESTA_Alltoall(send, b%send_count(1), MPI_DOUBLE_COMPLEX, &
                                 recv, b%recv_count(1), MPI_DOUBLE_COMPLEX, g%comm, ierror)
#else
            call MPI_Alltoall(send, b%send_count(1), MPI_DOUBLE_COMPLEX, &
                              recv, b%recv_count(1), MPI_DOUBLE_COMPLEX, g%comm, ierror)
#endif
            call note('alltoall_' // g%name, start)
        else
#if defined(_CRESTA_COLLECTIVES)
            call CRESTA_Alltoallv(send, b%send_count, b%send_start, MPI_DOUBLE_COMPLEX, &
                                  recv, b%recv_count, b%recv_start, MPI_DOUBLE_COMPLEX, &
                                  g%comm, ierror)
#else
            call MPI_Alltoallv(send, b%send_count, b%send_start, MPI_DOUBLE_COMPLEX, &
                               recv, b%recv_count, b%recv_start, MPI_DOUBLE_COMPLEX, &
                               g%comm, ierror)
#endif
            call note('alltoallv_' // g%name, start)
        end if
    end subroutine exchange

    !> An exchange in two phases: neither buffer may be touched before end_exchange.
    subroutine begin_exchange(send, recv, b, g, request)
        complex(dp), contiguous, intent(in), asynchronous :: send(:)
        complex(dp), contiguous, intent(inout), asynchronous :: recv(:)
        type(blocks), intent(in) :: b
        type(group), intent(in) :: g
        integer, intent(out) :: request
        real(dp) :: start
        integer :: ierror

        start = MPI_Wtime()
        if (b%equal) then
#if defined(_CRESTA_COLLECTIVES)
            call CRESTA_Alltoall_begin(send, b%send_count(1), MPI_DOUBLE_COMPLEX, &
                                       recv, b%recv_count(1), MPI_DOUBLE_COMPLEX, &
                                       g%comm, request, ierror)
#else
            call MPI_Ialltoall(send, b%send_count(1), MPI_DOUBLE_COMPLEX, &
                               recv, b%recv_count(1), MPI_DOUBLE_COMPLEX, g%comm, request, ierror)
#endif
        else
#if defined(_CRESTA_COLLECTIVES)
            call CRESTA_Alltoallv_begin(send, b%send_count, b%send_start, MPI_DOUBLE_COMPLEX, &
                                        recv, b%recv_count, b%recv_start, MPI_DOUBLE_COMPLEX, &
                                        g%comm, request, ierror)
#else
            call MPI_Ialltoallv(send, b%send_count, b%send_start, MPI_DOUBLE_COMPLEX, &
                                recv, b%recv_count, b%recv_start, MPI_DOUBLE_COMPLEX, &
                                g%comm, request, ierror)
#endif
        end if
        call note('begin_' // g%name, start)
    end subroutine begin_exchange

    subroutine end_exchange(g, request)
        type(group), intent(in) :: g
        integer, intent(inout) :: request
        real(dp) :: start
        integer :: ierror

        start = MPI_Wtime()
#if defined(_CRESTA_COLLECTIVES)
        call CRESTA_Coll_end(1, request, ierror)
#else
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
#endif
        call note('end_' // g%name, start)
    end subroutine end_exchange

    subroutine global_sum(values)
        real(dp), contiguous, intent(inout) :: values(:)

        call reduce_everywhere(values, MPI_SUM)
    end subroutine global_sum

    subroutine global_max(values)
        real(dp), contiguous, intent(inout) :: values(:)

        call reduce_everywhere(values, MPI_MAX)
    end subroutine global_max

    function max_over_ranks(value) result(largest)
        real(dp), intent(in) :: value
        real(dp) :: largest, one(1)

        one = value
        call global_max(one)
        largest = one(1)
    end function max_over_ranks

    !> What has been spent since the start or since it was last forgotten, in the order of first
    !> use: the same on all ranks, because all ranks make the same calls.
    function tallies() result(spent)
        type(tally) :: spent(used)

        spent = ledger(:used)
    end function tallies

    subroutine forget_tallies()
        used = 0
    end subroutine forget_tallies

    subroutine reduce_everywhere(values, op)
        real(dp), contiguous, intent(inout) :: values(:)
        integer, intent(in) :: op
        real(dp) :: mine(size(values)), start
        integer :: ierror

        mine = values
        start = MPI_Wtime()
#if defined(_CRESTA_COLLECTIVES)
        call CRESTA_Allreduce(mine, values, size(values), MPI_DOUBLE_PRECISION, op, &
                              MPI_COMM_WORLD, ierror)
#else
        call MPI_Allreduce(mine, values, size(values), MPI_DOUBLE_PRECISION, op, &
                           MPI_COMM_WORLD, ierror)
#endif
        call note('allreduce_world', start)
    end subroutine reduce_everywhere

    subroutine note(name, start)
        character(*), intent(in) :: name
        real(dp), intent(in) :: start
        real(dp) :: seconds
        integer :: i

        seconds = MPI_Wtime() - start
        do i = 1, used
            if (ledger(i)%name == name) exit
        end do
        if (i > used) then
            ledger(i) = tally(name)
            used = i
        end if
        ledger(i)%calls = ledger(i)%calls + 1
        ledger(i)%seconds = ledger(i)%seconds + seconds
    end subroutine note

end module collectives
