! SPDX-License-Identifier: BSD-3-Clause
! cells.f90 - the cellular automaton of field.h: the same states, the same hash.
module cells
    use, intrinsic :: iso_fortran_env, only: int64
    implicit none
    integer, parameter :: columns = 2048  ! 8 KB in a row

    type :: strip
        integer :: first, rows  ! of all rows, from 0, those of this rank
        integer, allocatable :: now(:, :), next(:, :)
    end type strip

contains

    function make_strip(first, rows) result(s)
        integer, intent(in) :: first, rows
        type(strip) :: s
        integer :: i, k
        s%first = first
        s%rows = rows
        allocate (s%now(columns, rows), s%next(columns, rows))
        do i = 1, rows
            do k = 1, columns
                associate (row => first + i - 1, column => k - 1)
                    s%now(k, i) = modulo(row * 37 + column * 11 + modulo(row * column, 251), 256)
                end associate
            end do
        end do
    end function make_strip

    elemental integer function rule(total)
        integer, intent(in) :: total
        rule = iand(total / 16 + total / 4 + modulo(total, 7), 255)
    end function rule

    subroutine next_row(to, above, mid, below)
        integer, intent(out) :: to(columns)
        integer, intent(in) :: above(columns), mid(columns), below(columns)
        integer :: column(columns)  ! sums of three rows
        column = above + 2 * mid + below
        to(1) = rule(column(columns) + 2 * column(1) + column(2))
        to(2:columns - 1) = rule(column(:columns - 2) + 2 * column(2:columns - 1) + column(3:))
        to(columns) = rule(column(columns - 1) + 2 * column(columns) + column(1))
    end subroutine next_row

    ! The next state of the rows that have both neighbours here.
    subroutine inner(s)
        type(strip), intent(inout) :: s
        integer :: i
        do i = 2, s%rows - 1
            call next_row(s%next(:, i), s%now(:, i - 1), s%now(:, i), s%now(:, i + 1))
        end do
    end subroutine inner

    ! That of the outer rows; then it is the state of now.
    subroutine outer(s, above, below)
        type(strip), intent(inout) :: s
        integer, intent(in) :: above(columns), below(columns)
        integer, allocatable :: old(:, :)
        associate (n => s%rows)
            if (n == 1) then
                call next_row(s%next(:, 1), above, s%now(:, 1), below)
            else
                call next_row(s%next(:, 1), above, s%now(:, 1), s%now(:, 2))
                call next_row(s%next(:, n), s%now(:, n - 1), s%now(:, n), below)
            end if
        end associate
        call move_alloc(s%now, old)
        call move_alloc(s%next, s%now)
        call move_alloc(old, s%next)
    end subroutine outer

    ! Those of all strips add up to that of the field.
    integer(int64) function hash(s)
        type(strip), intent(in) :: s
        integer(int64), parameter :: prime = 2147483647_int64
        integer(int64) :: one
        integer :: i, k
        hash = 0
        do i = 1, s%rows
            one = 1
            do k = 1, columns
                one = modulo(one * 31 + s%now(k, i) + 1, prime)
            end do
            hash = hash + modulo(one * (1 + modulo((s%first + i - 1) * 7919_int64, prime)), prime)
        end do
    end function hash
end module cells
