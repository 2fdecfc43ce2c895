! SPDX-License-Identifier: BSD-3-Clause
! transposes.F90 - from one pencil view to the next: pack, exchange, unpack.
!
! Packing keeps the order of the source, except y_to_z which turns (y, x, z) into (z, x, y) blocks
! while it packs; so the expensive strided access happens on one side only, line by line of cache.
module transposes
    use kinds, only: dp
    use collectives, only: blocks, group, exchange, begin_exchange, end_exchange
    use pencils, only: pencil_grid
    implicit none
    private
    public :: parcel, make_parcel
    public :: begin_x_to_y, begin_y_to_x, begin_y_to_z, begin_z_to_y
    public :: end_x_to_y, end_y_to_x, end_y_to_z, end_z_to_y

    !> What one transpose sends and receives.
    type :: parcel
        private
        complex(dp), allocatable :: send(:), recv(:)
        logical :: waits = .false.      !< exchanged at once, while nothing else happens
        integer :: request
    end type parcel

    integer, parameter :: line = 4      !< complex numbers in a cache line

contains

    !> For transposes of at most `most` complex numbers. A parcel that waits is exchanged by one
    !> blocking call; the others travel between begin and end.
    function make_parcel(most, waits) result(t)
        integer, intent(in) :: most
        logical, intent(in) :: waits
        type(parcel) :: t

        allocate (t%send(most), t%recv(most))
        t%waits = waits
    end function make_parcel

    subroutine set_off(t, b, g)
        type(parcel), intent(inout) :: t
        type(blocks), intent(in) :: b
        type(group), intent(in) :: g

        if (t%waits) then
            call exchange(t%send, t%recv, b, g)
        else
            call begin_exchange(t%send, t%recv, b, g, t%request)
        end if
    end subroutine set_off

    subroutine arrive(t, g)
        type(parcel), intent(inout) :: t
        type(group), intent(in) :: g

        if (.not. t%waits) call end_exchange(g, t%request)
    end subroutine arrive

    !> a(x modes, y, z) of x pencils -> b(y, x, z) of y pencils.
    subroutine begin_x_to_y(g, a, t)
        type(pencil_grid), intent(in) :: g
        complex(dp), intent(in) :: a(:, :, :)
        type(parcel), intent(inout) :: t
        integer :: p, j, k, at

        at = 0
        do p = 1, g%row%size
            do k = 1, g%z%n
                do j = 1, g%y%n
                    t%send(at + 1:at + g%x_of(p)%n) = a(g%x_of(p)%first:g%x_of(p)%last, j, k)
                    at = at + g%x_of(p)%n
                end do
            end do
        end do
        call set_off(t, g%x_to_y, g%row)
    end subroutine begin_x_to_y

    subroutine end_x_to_y(g, t, b)
        type(pencil_grid), intent(in) :: g
        type(parcel), intent(inout) :: t
        complex(dp), intent(inout) :: b(:, :, :)
        integer :: p, i, j, k, at

        call arrive(t, g%row)
        at = 0
        do p = 1, g%row%size
            do k = 1, g%z%n
                do i = 1, g%x%n
                    do j = 1, g%y_of(p)%n
                        b(g%y_of(p)%first + j - 1, i, k) = t%recv(at + i + (j - 1)*g%x%n)
                    end do
                end do
                at = at + g%x%n*g%y_of(p)%n
            end do
        end do
    end subroutine end_x_to_y

    !> b(y, x, z) of y pencils -> a(x modes, y, z) of x pencils; modes above mx become zero.
    subroutine begin_y_to_x(g, b, t)
        type(pencil_grid), intent(in) :: g
        complex(dp), intent(in) :: b(:, :, :)
        type(parcel), intent(inout) :: t
        integer :: p, i, j, k, at

        at = 0
        do p = 1, g%row%size
            do k = 1, g%z%n
                do j = 1, g%y_of(p)%n
                    do i = 1, g%x%n
                        t%send(at + i) = b(g%y_of(p)%first + j - 1, i, k)
                    end do
                    at = at + g%x%n
                end do
            end do
        end do
        call set_off(t, g%y_to_x, g%row)
    end subroutine begin_y_to_x

    subroutine end_y_to_x(g, t, a)
        type(pencil_grid), intent(in) :: g
        type(parcel), intent(inout) :: t
        complex(dp), intent(inout) :: a(:, :, :)
        integer :: p, j, k, at

        call arrive(t, g%row)
        at = 0
        do p = 1, g%row%size
            do k = 1, g%z%n
                do j = 1, g%y%n
                    a(g%x_of(p)%first:g%x_of(p)%last, j, k) = t%recv(at + 1:at + g%x_of(p)%n)
                    at = at + g%x_of(p)%n
                end do
            end do
        end do
        a(g%mx + 1:, :, :) = 0
    end subroutine end_y_to_x

    !> b(y, x, z) of y pencils -> s(z, x, y) of z pencils.
    subroutine begin_y_to_z(g, b, t)
        type(pencil_grid), intent(in) :: g
        complex(dp), intent(in) :: b(:, :, :)
        type(parcel), intent(inout) :: t
        integer :: p, i, j, jj, k, plane, start

        plane = g%z%n*g%x%n
        start = 0
        do p = 1, g%col%size
            do jj = 1, g%ky_of(p)%n, line
                do i = 1, g%x%n
                    do k = 1, g%z%n
                        do j = jj, min(jj + line - 1, g%ky_of(p)%n)
                            t%send(start + (j - 1)*plane + (i - 1)*g%z%n + k) = &
                                b(g%ky_of(p)%first + j - 1, i, k)
                        end do
                    end do
                end do
            end do
            start = start + g%ky_of(p)%n*plane
        end do
        call set_off(t, g%y_to_z, g%col)
    end subroutine begin_y_to_z

    subroutine end_y_to_z(g, t, s)
        type(pencil_grid), intent(in) :: g
        type(parcel), intent(inout) :: t
        complex(dp), intent(inout) :: s(:, :, :)
        integer :: p, i, j, at

        call arrive(t, g%col)
        at = 0
        do p = 1, g%col%size
            do j = 1, g%ky%n
                do i = 1, g%x%n
                    s(g%z_of(p)%first:g%z_of(p)%last, i, j) = t%recv(at + 1:at + g%z_of(p)%n)
                    at = at + g%z_of(p)%n
                end do
            end do
        end do
    end subroutine end_y_to_z

    !> s(z, x, y) of z pencils -> b(y, x, z) of y pencils.
    subroutine begin_z_to_y(g, s, t)
        type(pencil_grid), intent(in) :: g
        complex(dp), intent(in) :: s(:, :, :)
        type(parcel), intent(inout) :: t
        integer :: p, i, j, at

        at = 0
        do p = 1, g%col%size
            do j = 1, g%ky%n
                do i = 1, g%x%n
                    t%send(at + 1:at + g%z_of(p)%n) = s(g%z_of(p)%first:g%z_of(p)%last, i, j)
                    at = at + g%z_of(p)%n
                end do
            end do
        end do
        call set_off(t, g%z_to_y, g%col)
    end subroutine begin_z_to_y

    subroutine end_z_to_y(g, t, b)
        type(pencil_grid), intent(in) :: g
        type(parcel), intent(inout) :: t
        complex(dp), intent(inout) :: b(:, :, :)
        integer :: p, i, j, jj, k, plane, start

        call arrive(t, g%col)
        plane = g%z%n*g%x%n
        start = 0
        do p = 1, g%col%size
            do jj = 1, g%ky_of(p)%n, line
                do i = 1, g%x%n
                    do k = 1, g%z%n
                        do j = jj, min(jj + line - 1, g%ky_of(p)%n)
                            b(g%ky_of(p)%first + j - 1, i, k) = &
                                t%recv(start + (j - 1)*plane + (i - 1)*g%z%n + k)
                        end do
                    end do
                end do
            end do
            start = start + g%ky_of(p)%n*plane
        end do
    end subroutine end_z_to_y

end module transposes
