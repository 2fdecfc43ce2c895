! SPDX-License-Identifier: BSD-3-Clause
! diagnostics.F90 - numbers about the whole flow: means over the box, by sums over modes.
module diagnostics
    use kinds, only: dp, two_pi
    use collectives, only: global_sum, global_max
    use navier_stokes, only: solver
    use flows, only: velocity
    implicit none
    private
    public :: energy_and_enstrophy, component_energies, divergence, energy_transfer, velocity_error
    public :: fill_grid

contains

    !> [mean u^2 / 2, mean (curl u)^2 / 2] in one reduction. The flow has no divergence, so the
    !> mean of (curl u)^2 is the sum of k^2 |v|^2.
    function energy_and_enstrophy(s) result(sums)
        type(solver), intent(in) :: s
        real(dp) :: sums(2), v2(s%g%n(3)), weight
        integer :: i, j

        sums = 0
        do j = 1, s%g%ky%n
            do i = 1, s%g%x%n
                weight = modes_meant(s, i)/2
                v2 = square(s%v(:, i, j, 1)) + square(s%v(:, i, j, 2)) + square(s%v(:, i, j, 3))
                sums(1) = sums(1) + weight*sum(v2)
                sums(2) = sums(2) + weight*sum((s%kx(i)**2 + s%ky(j)**2 + s%kz**2)*v2)
            end do
        end do
        call global_sum(sums)
    end function energy_and_enstrophy

    !> Mean u^2/2, v^2/2, w^2/2.
    function component_energies(s) result(sums)
        type(solver), intent(in) :: s
        real(dp) :: sums(3)
        integer :: i, c

        sums = 0
        do c = 1, 3
            do i = 1, s%g%x%n
                sums(c) = sums(c) + modes_meant(s, i)/2*sum(square(s%v(:, i, :, c)))
            end do
        end do
        call global_sum(sums)
    end function component_energies

    !> Root mean square of div u over that of the velocity gradient.
    function divergence(s) result(ratio)
        type(solver), intent(in) :: s
        real(dp) :: ratio, sums(2), v2(s%g%n(3))
        integer :: i, j

        sums = 0
        do j = 1, s%g%ky%n
            do i = 1, s%g%x%n
                v2 = square(s%v(:, i, j, 1)) + square(s%v(:, i, j, 2)) + square(s%v(:, i, j, 3))
                sums(1) = sums(1) + modes_meant(s, i)*sum(square( &
                    s%kx(i)*s%v(:, i, j, 1) + s%ky(j)*s%v(:, i, j, 2) + s%kz*s%v(:, i, j, 3)))
                sums(2) = sums(2) + &
                    modes_meant(s, i)*sum((s%kx(i)**2 + s%ky(j)**2 + s%kz**2)*v2)
            end do
        end do
        call global_sum(sums)
        ratio = sqrt(sums(1)/sums(2))
    end function divergence

    !> Energy that the nonlinear term creates, mean(u . r) over rms(u) rms(r); exactly, none.
    function energy_transfer(s) result(ratio)
        type(solver), intent(inout) :: s
        complex(dp), allocatable :: r(:, :, :, :)
        real(dp) :: ratio, sums(3)
        integer :: i

        allocate (r, mold=s%v)
        call s%nonlinear(s%v, r)
        sums = 0
        do i = 1, s%g%x%n
            sums = sums + modes_meant(s, i)*[ &
                sum(real(conjg(s%v(:, i, :, :))*r(:, i, :, :), dp)), &
                sum(square(s%v(:, i, :, :))), sum(square(r(:, i, :, :)))]
        end do
        call global_sum(sums)
        ratio = abs(sums(1))/max(sqrt(sums(2)*sums(3)), tiny(ratio))
    end function energy_transfer

    !> Largest difference of s%u (on the grid) from the velocity of a flow at time t.
    function velocity_error(s, case, t) result(largest)
        type(solver), intent(in) :: s
        character(*), intent(in) :: case
        real(dp), intent(in) :: t
        real(dp) :: largest, one(1)
        real(dp), allocatable :: exact(:, :, :, :)

        allocate (exact, mold=s%u)
        call fill_grid(s, case, t, exact)
        one = maxval(abs(s%u - exact))
        ! maxval may pass over a NaN; a sum does not
        if (.not. abs(sum(s%u)) <= huge(largest)) one = 1e99_dp
        call global_max(one)
        largest = one(1)
    end function velocity_error

    !> The velocity of a flow at time t at all of my grid points.
    subroutine fill_grid(s, case, t, u)
        type(solver), intent(in) :: s
        character(*), intent(in) :: case
        real(dp), intent(in) :: t
        real(dp), intent(inout) :: u(:, :, :, :)
        real(dp) :: x(3)
        integer :: i, j, k

        do k = 1, s%g%z%n
            do j = 1, s%g%y%n
                do i = 1, s%g%n(1)
                    x = two_pi*[i - 1, s%g%y%first + j - 2, s%g%z%first + k - 2]/s%g%n
                    u(i, j, k, :) = velocity(case, x, t, s%nu)
                end do
            end do
        end do
    end subroutine fill_grid

    !> Modes with kx > 0 stand for their complex conjugate at -kx too.
    pure function modes_meant(s, i) result(weight)
        type(solver), intent(in) :: s
        integer, intent(in) :: i
        real(dp) :: weight

        weight = merge(2.0_dp, 1.0_dp, s%kx(i) > 0)
    end function modes_meant

    elemental function square(z) result(r)
        complex(dp), intent(in) :: z
        real(dp) :: r

        r = real(z, dp)**2 + aimag(z)**2
    end function square

end module diagnostics
