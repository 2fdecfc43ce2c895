! SPDX-License-Identifier: BSD-3-Clause
! checksum.F90 - one number for the bits of the velocity on the whole grid.
!
! Each value is hashed with its place in the global grid, and the hashes are added: the sum does
! not depend on the order, nor on which rank has which part. All arithmetic stays below 2^63, and
! the sums over ranks are integers below 2^53, which double precision adds exactly in any order.
module checksum
    use kinds, only: dp, i64
    use collectives, only: global_sum
    use navier_stokes, only: solver
    implicit none
    private
    public :: velocity_checksum

    integer(i64), parameter :: low_half = 4294967295_i64

contains

    !> 16 hexadecimal digits for s%u.
    function velocity_checksum(s) result(text)
        type(solver), intent(in) :: s
        character(16) :: text
        integer(i64) :: bits, place, first, second, sums(2)
        real(dp) :: shared(2)
        integer :: i, j, k, c

        sums = 0
        do c = 1, 3
            do k = 1, s%g%z%n
                do j = 1, s%g%y%n
                    place = ((c - 1)*int(s%g%n(3), i64) + s%g%z%first + k - 2)*s%g%n(2) &
                        + s%g%y%first + j - 2
                    place = place*s%g%n(1)
                    do i = 1, s%g%n(1)
                        bits = transfer(s%u(i, j, k, c), bits)
                        first = mix(ieor(iand(bits, low_half), mix(iand(place + i, low_half))))
                        second = mix(ieor(ishft(bits, -32), first))
                        sums = iand(sums + [first, second], low_half)
                    end do
                end do
            end do
        end do
        shared = real(sums, dp)
        call global_sum(shared)
        sums = iand(int(shared, i64), low_half)
        write (text, '(2z8.8)') sums(2), sums(1)
    end function velocity_checksum

    !> A bijection of 32-bit numbers that spreads every bit over all of them.
    elemental function mix(x) result(h)
        integer(i64), intent(in) :: x
        integer(i64), parameter :: factor = int(z'45d9f3b', i64)
        integer(i64) :: h

        h = iand(ieor(ishft(x, -16), x)*factor, low_half)
        h = iand(ieor(ishft(h, -16), h)*factor, low_half)
        h = ieor(ishft(h, -16), h)
    end function mix

end module checksum
