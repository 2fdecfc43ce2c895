! SPDX-License-Identifier: BSD-3-Clause
! transposes.F90 - from one pencil view to the next: pack, exchange, unpack.
!
! Packing keeps the order of the source, except y_to_z which turns (y, x, z) into (z, x, y) blocks
! while it packs; so the expensive strided access happens on one side only, line by line of cache.
module transposes
    use kinds, only: dp
    use collectives, only: exchange
    use pencils, only: pencil_grid
    implicit none
    private
    public :: x_to_y, y_to_x, y_to_z, z_to_y

    integer, parameter :: line = 4      !< complex numbers in a cache line

contains

    !> a(x modes, y, z) of x pencils -> b(y, x, z) of y pencils.
    subroutine x_to_y(g, a, b, send, recv)
        type(pencil_grid), intent(in) :: g
        complex(dp), intent(in) :: a(:, :, :)
        complex(dp), intent(inout) :: b(:, :, :)
        complex(dp), contiguous, intent(inout) :: send(:), recv(:)
        integer :: p, i, j, k, at

        at = 0
        do p = 1, g%row%size
            do k = 1, g%z%n
                do j = 1, g%y%n
                    send(at + 1:at + g%x_of(p)%n) = a(g%x_of(p)%first:g%x_of(p)%last, j, k)
                    at = at + g%x_of(p)%n
                end do
            end do
        end do
        call exchange(send, recv, g%x_to_y, g%row)
        at = 0
        do p = 1, g%row%size
            do k = 1, g%z%n
                do i = 1, g%x%n
                    do j = 1, g%y_of(p)%n
                        b(g%y_of(p)%first + j - 1, i, k) = recv(at + i + (j - 1)*g%x%n)
                    end do
                end do
                at = at + g%x%n*g%y_of(p)%n
            end do
        end do
    end subroutine x_to_y

    !> b(y, x, z) of y pencils -> a(x modes, y, z) of x pencils; modes above mx become zero.
    subroutine y_to_x(g, b, a, send, recv)
        type(pencil_grid), intent(in) :: g
        complex(dp), intent(in) :: b(:, :, :)
        complex(dp), intent(inout) :: a(:, :, :)
        complex(dp), contiguous, intent(inout) :: send(:), recv(:)
        integer :: p, i, j, k, at

        at = 0
        do p = 1, g%row%size
            do k = 1, g%z%n
                do j = 1, g%y_of(p)%n
                    do i = 1, g%x%n
                        send(at + i) = b(g%y_of(p)%first + j - 1, i, k)
                    end do
                    at = at + g%x%n
                end do
            end do
        end do
        call exchange(send, recv, g%y_to_x, g%row)
        at = 0
        do p = 1, g%row%size
            do k = 1, g%z%n
                do j = 1, g%y%n
                    a(g%x_of(p)%first:g%x_of(p)%last, j, k) = recv(at + 1:at + g%x_of(p)%n)
                    at = at + g%x_of(p)%n
                end do
            end do
        end do
        a(g%mx + 1:, :, :) = 0
    end subroutine y_to_x

    !> b(y, x, z) of y pencils -> s(z, x, y) of z pencils.
    subroutine y_to_z(g, b, s, send, recv)
        type(pencil_grid), intent(in) :: g
        complex(dp), intent(in) :: b(:, :, :)
        complex(dp), intent(inout) :: s(:, :, :)
        complex(dp), contiguous, intent(inout) :: send(:), recv(:)
        integer :: p, i, j, jj, k, at, plane, start

        plane = g%z%n*g%x%n
        start = 0
        do p = 1, g%col%size
            do jj = 1, g%ky_of(p)%n, line
                do i = 1, g%x%n
                    do k = 1, g%z%n
                        do j = jj, min(jj + line - 1, g%ky_of(p)%n)
                            send(start + (j - 1)*plane + (i - 1)*g%z%n + k) = &
                                b(g%ky_of(p)%first + j - 1, i, k)
                        end do
                    end do
                end do
            end do
            start = start + g%ky_of(p)%n*plane
        end do
        call exchange(send, recv, g%y_to_z, g%col)
        at = 0
        do p = 1, g%col%size
            do j = 1, g%ky%n
                do i = 1, g%x%n
                    s(g%z_of(p)%first:g%z_of(p)%last, i, j) = recv(at + 1:at + g%z_of(p)%n)
                    at = at + g%z_of(p)%n
                end do
            end do
        end do
    end subroutine y_to_z

    !> s(z, x, y) of z pencils -> b(y, x, z) of y pencils.
    subroutine z_to_y(g, s, b, send, recv)
        type(pencil_grid), intent(in) :: g
        complex(dp), intent(in) :: s(:, :, :)
        complex(dp), intent(inout) :: b(:, :, :)
        complex(dp), contiguous, intent(inout) :: send(:), recv(:)
        integer :: p, i, j, jj, k, at, plane, start

        at = 0
        do p = 1, g%col%size
            do j = 1, g%ky%n
                do i = 1, g%x%n
                    send(at + 1:at + g%z_of(p)%n) = s(g%z_of(p)%first:g%z_of(p)%last, i, j)
                    at = at + g%z_of(p)%n
                end do
            end do
        end do
        call exchange(send, recv, g%z_to_y, g%col)
        plane = g%z%n*g%x%n
        start = 0
        do p = 1, g%col%size
            do jj = 1, g%ky_of(p)%n, line
                do i = 1, g%x%n
                    do k = 1, g%z%n
                        do j = jj, min(jj + line - 1, g%ky_of(p)%n)
                            b(g%ky_of(p)%first + j - 1, i, k) = &
                                recv(start + (j - 1)*plane + (i - 1)*g%z%n + k)
                        end do
                    end do
                end do
            end do
            start = start + g%ky_of(p)%n*plane
        end do
    end subroutine z_to_y

end module transposes
