! SPDX-License-Identifier: BSD-3-Clause
! ways.f90 - how a strip gets the rows beyond its first and its last one; exchange.h says more.
module ways
    use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
    use, intrinsic :: iso_fortran_env, only: int64
    use mpi_f08
    use crestacoll
    use cells, only: columns
    implicit none

    integer, parameter :: above = 1, below = 2, row_bytes = 4 * columns
    character(9), parameter :: names(8) = [character(9) :: 'two-sided', 'neighbor', 'fence', &
                                           'post', 'lock', 'rput', 'os', 'shm']

    type :: exchange
        character(9) :: way
        type(MPI_Comm) :: comm  ! a ring, with that topology
        integer :: peers(2)     ! the ranks above and below
        integer, pointer :: rows(:, :, :) => null()    ! column, side, step modulo 2
        integer(int64), pointer :: come(:) => null()   ! the last step of each side
        integer, allocatable :: out(:, :)              ! what is sent
        logical :: has_window = .false.
        type(MPI_Win) :: window
        type(MPI_Group) :: group
        type(MPI_Request) :: requests(4)
    end type exchange

contains

    subroutine open_exchange(x, way)
        type(exchange), intent(inout) :: x
        character(*), intent(in) :: way
        integer :: ranks
        x%way = way
        call MPI_Comm_size(MPI_COMM_WORLD, ranks)
        call MPI_Cart_create(MPI_COMM_WORLD, 1, [ranks], [.true.], .false., x%comm)
        call MPI_Cart_shift(x%comm, 0, 1, x%peers(above), x%peers(below))
        allocate (x%out(columns, 2))
        x%has_window = any(way == [character(9) :: 'fence', 'post', 'lock', 'rput'])
        if (x%has_window) then
            call open_window(x)
        else
            allocate (x%rows(columns, 2, 0:1))
        end if
        if (way == 'os' .or. way == 'shm') then
            call CRESTA_Set_impl(x%comm, 'neighbor_alltoall='//trim(way))
        end if
    end subroutine open_exchange

    subroutine open_window(x)
        type(exchange), intent(inout) :: x
        type(MPI_Group) :: everybody
        type(c_ptr) :: base
        integer, pointer :: words(:)
        integer, parameter :: all_words = 4 * columns + 4
        call MPI_Win_allocate(int(4 * all_words, MPI_ADDRESS_KIND), 1, MPI_INFO_NULL, x%comm, &
                              base, x%window)
        call c_f_pointer(base, words, [all_words])
        words = 0
        call c_f_pointer(base, x%come, [2])  ! first, then the rows
        x%rows(1:columns, 1:2, 0:1) => words(5:all_words)
        call MPI_Comm_group(x%comm, everybody)
        call MPI_Group_incl(everybody, merge(1, 2, x%peers(1) == x%peers(2)), x%peers, x%group)
        call MPI_Group_free(everybody)
        call MPI_Barrier(x%comm)
        if (x%way == 'fence') call MPI_Win_fence(MPI_MODE_NOPRECEDE, x%window)
        if (x%way == 'rput') call MPI_Win_lock_all(MPI_MODE_NOCHECK, x%window)
    end subroutine open_window

    subroutine close_exchange(x)
        type(exchange), intent(inout) :: x
        if (x%way == 'fence') call MPI_Win_fence(MPI_MODE_NOSUCCEED, x%window)
        if (x%way == 'rput') call MPI_Win_unlock_all(x%window)
        if (x%has_window) then
            call MPI_Group_free(x%group)
            call MPI_Win_free(x%window)
        else
            deallocate (x%rows)
        end if
        call MPI_Comm_free(x%comm)
        deallocate (x%out)
    end subroutine close_exchange

    integer(MPI_ADDRESS_KIND) function place(side, step)
        integer, intent(in) :: side, step
        place = 16 + int(2 * modulo(step, 2) + side - 1, MPI_ADDRESS_KIND) * row_bytes
    end function place

    ! A row that goes up comes from below.
    subroutine put(x, side, step)
        type(exchange), intent(inout) :: x
        integer, intent(in) :: side, step
        call MPI_Put(x%out(:, side), columns, MPI_INTEGER, x%peers(side), place(3 - side, step), &
                     columns, MPI_INTEGER, x%window)
    end subroutine put

    ! Says that the row of a step is there.
    subroutine tell(x, side, number)
        type(exchange), intent(inout) :: x
        integer, intent(in) :: side
        integer(int64), intent(in), asynchronous :: number
        call MPI_Accumulate(number, 1, MPI_INTEGER8, x%peers(side), &
                            int(8 * (2 - side), MPI_ADDRESS_KIND), 1, MPI_INTEGER8, MPI_REPLACE, &
                            x%window)
    end subroutine tell

    ! Others write here at any time.
    integer(int64) function last_of_both(come)
        integer(int64), volatile, intent(inout) :: come(2)
        last_of_both = min(come(1), come(2))
    end function last_of_both

    subroutine begin_exchange(x, step)
        type(exchange), intent(inout) :: x
        integer, intent(in) :: step
        integer(int64), asynchronous :: number
        integer :: side, turn
        turn = modulo(step, 2)
        number = step
        select case (x%way)
        case ('two-sided')
            do side = above, below
                call MPI_Irecv(x%rows(:, side, turn), columns, MPI_INTEGER, x%peers(side), side, &
                               x%comm, x%requests(side))
                call MPI_Isend(x%out(:, side), columns, MPI_INTEGER, x%peers(side), 3 - side, &
                               x%comm, x%requests(2 + side))
            end do
        case ('neighbor')
            call MPI_Neighbor_alltoall(x%out, columns, MPI_INTEGER, x%rows(:, :, turn), columns, &
                                       MPI_INTEGER, x%comm)
        case ('os', 'shm')
            call CRESTA_Neighbor_alltoall(x%out, columns, MPI_INTEGER, x%rows(:, :, turn), &
                                          columns, MPI_INTEGER, x%comm)
        case ('fence')
            call put(x, above, step)
            call put(x, below, step)
        case ('post')
            call MPI_Win_post(x%group, 0, x%window)
            call MPI_Win_start(x%group, 0, x%window)
            call put(x, above, step)
            call put(x, below, step)
        case ('lock')
            do side = above, below
                call MPI_Win_lock(MPI_LOCK_SHARED, x%peers(side), 0, x%window)
                call put(x, side, step)
                call MPI_Win_unlock(x%peers(side), x%window)
                call MPI_Win_lock(MPI_LOCK_SHARED, x%peers(side), 0, x%window)
                call tell(x, side, number)
                call MPI_Win_unlock(x%peers(side), x%window)
            end do
        case ('rput')
            do side = above, below
                call MPI_Rput(x%out(:, side), columns, MPI_INTEGER, x%peers(side), &
                              place(3 - side, step), columns, MPI_INTEGER, x%window, &
                              x%requests(side))
            end do
        end select
    end subroutine begin_exchange

    subroutine end_exchange(x, step)
        type(exchange), intent(inout) :: x
        integer, intent(in) :: step
        integer(int64), asynchronous :: number
        integer :: me
        number = step
        select case (x%way)
        case ('two-sided')
            call MPI_Waitall(4, x%requests, MPI_STATUSES_IGNORE)
        case ('fence')
            call MPI_Win_fence(0, x%window)
        case ('post')
            call MPI_Win_complete(x%window)
            call MPI_Win_wait(x%window)
        case ('lock')
            call MPI_Comm_rank(x%comm, me)
            do
                call MPI_Win_lock(MPI_LOCK_SHARED, me, 0, x%window)
                if (last_of_both(x%come) >= number) exit
                call MPI_Win_unlock(me, x%window)
            end do
            call MPI_Win_sync(x%window)   ! the rows are read after their numbers
            call MPI_Win_unlock(me, x%window)
        case ('rput')
            call end_rput(x, number)
        end select
        if (.not. MPI_ASYNC_PROTECTS_NONBLOCKING) call MPI_F_sync_reg(x%rows)
    end subroutine end_exchange

    ! A flush for both rows, and one for both numbers.
    subroutine end_rput(x, number)
        type(exchange), intent(inout) :: x
        integer(int64), intent(in), asynchronous :: number
        logical :: flag
        call MPI_Waitall(2, x%requests, MPI_STATUSES_IGNORE)
        call MPI_Win_flush_all(x%window)
        call tell(x, above, number)
        call tell(x, below, number)
        call MPI_Win_flush_all(x%window)
        do
            call MPI_Win_sync(x%window)
            if (last_of_both(x%come) >= number) exit
            call MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, x%comm, flag, MPI_STATUS_IGNORE)
        end do
    end subroutine end_rput
end module ways
