! SPDX-License-Identifier: BSD-3-Clause
! navier_stokes.F90 - one time step of the incompressible Navier-Stokes equations.
!
!   dv/dt = P (u x curl u) - nu k^2 v,   k . v = 0
! v are the Fourier modes of u; P removes the gradient part (the pressure) and, by the 2/3 rule,
! all modes that could be aliased. Viscosity is integrated exactly by the factor exp(-nu k^2 t),
! the rest by the classical fourth order Runge-Kutta scheme. Cost: 36 3-D transforms a step.
! Nothing here depends on a floating-point reduction over ranks, so neither does the result.
module navier_stokes
    use kinds, only: dp
    use pencils, only: pencil_grid, wave_number, highest_mode
    use fourier, only: transform, make_transform
    implicit none
    private
    public :: solver, make_solver

    type :: solver
        type(pencil_grid) :: g
        type(transform) :: fft
        real(dp) :: nu = 0, dt = 0
        real(dp), allocatable :: kx(:), ky(:), kz(:)     !< my wave numbers
        complex(dp), allocatable :: v(:, :, :, :)        !< the velocity: modes (z, x, y, component)
        real(dp), allocatable :: u(:, :, :, :)           !< work: velocity on the grid
        real(dp), allocatable, private :: w(:, :, :, :)  !< work: vorticity, then u x w on the grid
        real(dp), allocatable, private :: keep(:, :, :), inverse_k2(:, :, :), decay(:, :, :)
        complex(dp), allocatable, private :: rate(:, :, :, :), stage(:, :, :, :), total(:, :, :, :)
        complex(dp), allocatable, private :: one(:, :, :)
    contains
        procedure :: set_velocity
        procedure :: get_velocity
        procedure :: advance
        procedure :: nonlinear
        procedure, private :: curl
        procedure, private :: project
    end type solver

    complex(dp), parameter :: i_unit = (0.0_dp, 1.0_dp)

contains

    !> With `overlap`, fields are transposed while others are transformed.
    function make_solver(g, nu, dt, overlap) result(s)
        type(pencil_grid), intent(in) :: g
        real(dp), intent(in) :: nu, dt
        logical, intent(in) :: overlap
        type(solver) :: s
        integer :: i

        s%g = g
        s%nu = nu
        s%dt = dt
        s%fft = make_transform(g, overlap)
        s%kx = [(real(i - 1, dp), i = g%x%first, g%x%last)]
        s%ky = [(real(wave_number(i, g%n(2)), dp), i = g%ky%first, g%ky%last)]
        s%kz = [(real(wave_number(i, g%n(3)), dp), i = 1, g%n(3))]
        allocate (s%u(g%n(1), g%y%n, g%z%n, 3), s%w(g%n(1), g%y%n, g%z%n, 3))
        allocate (s%v(g%n(3), g%x%n, g%ky%n, 3))
        allocate (s%rate, s%stage, s%total, mold=s%v)
        allocate (s%one(g%n(3), g%x%n, g%ky%n))
        allocate (s%keep(g%n(3), g%x%n, g%ky%n))
        allocate (s%inverse_k2, s%decay, mold=s%keep)
        call set_factors(s)
    end function make_solver

    !> The factors of every mode that stay the same through the run.
    subroutine set_factors(s)
        type(solver), intent(inout) :: s
        real(dp) :: k2(s%g%n(3)), scale
        integer :: i, j, top(3)

        top = highest_mode(s%g%n)
        scale = 1/product(real(s%g%n, dp))        ! the transforms are not normalised
        do j = 1, s%g%ky%n
            do i = 1, s%g%x%n
                k2 = s%kx(i)**2 + s%ky(j)**2 + s%kz**2
                s%keep(:, i, j) = merge(scale, 0.0_dp, s%kx(i) <= top(1) &
                                        .and. abs(s%ky(j)) <= top(2) .and. abs(s%kz) <= top(3))
                s%inverse_k2(:, i, j) = merge(1/max(k2, 1.0_dp), 0.0_dp, k2 > 0)
                s%decay(:, i, j) = exp(-s%nu*k2*s%dt/2)
            end do
        end do
    end subroutine set_factors

    !> Take the velocity from s%u, which is on the grid.
    subroutine set_velocity(s)
        class(solver), intent(inout) :: s

        call s%fft%to_spectral(s%u, s%v)
        call s%project(s%v)
    end subroutine set_velocity

    !> Put the velocity into s%u.
    subroutine get_velocity(s)
        class(solver), intent(inout) :: s

        call s%fft%to_physical(s%v, s%u)
    end subroutine get_velocity

    !> One time step. The decay factor is that of half a step.
    subroutine advance(s)
        class(solver), intent(inout) :: s
        integer :: c

        call s%nonlinear(s%v, s%rate)
        do c = 1, 3
            s%total(:, :, :, c) = s%decay*(s%v(:, :, :, c) + s%dt/6*s%rate(:, :, :, c))
            s%stage(:, :, :, c) = s%decay*(s%v(:, :, :, c) + s%dt/2*s%rate(:, :, :, c))
        end do
        call s%nonlinear(s%stage, s%rate)
        do c = 1, 3
            s%total(:, :, :, c) = s%total(:, :, :, c) + s%dt/3*s%rate(:, :, :, c)
            s%stage(:, :, :, c) = s%decay*s%v(:, :, :, c) + s%dt/2*s%rate(:, :, :, c)
        end do
        call s%nonlinear(s%stage, s%rate)
        do c = 1, 3
            s%total(:, :, :, c) = s%total(:, :, :, c) + s%dt/3*s%rate(:, :, :, c)
            s%stage(:, :, :, c) = s%decay*(s%decay*s%v(:, :, :, c) + s%dt*s%rate(:, :, :, c))
        end do
        call s%nonlinear(s%stage, s%rate)
        do c = 1, 3
            s%v(:, :, :, c) = s%decay*s%total(:, :, :, c) + s%dt/6*s%rate(:, :, :, c)
        end do
    end subroutine advance

    !> rate = P (u x curl u) of the velocity v.
    subroutine nonlinear(s, v, rate)
        class(solver), intent(inout) :: s
        complex(dp), contiguous, intent(inout) :: v(:, :, :, :)     ! unchanged
        complex(dp), contiguous, intent(inout) :: rate(:, :, :, :)
        integer :: c, i, j, k
        real(dp) :: u(3), w(3)

        do c = 1, 3
            call s%curl(v, c, s%one)
            call s%fft%to_physical_two(v(:, :, :, c), s%u(:, :, :, c), s%one, s%w(:, :, :, c))
        end do
        do k = 1, s%g%z%n
            do j = 1, s%g%y%n
                do i = 1, s%g%n(1)
                    u = s%u(i, j, k, :)
                    w = s%w(i, j, k, :)
                    s%w(i, j, k, 1) = u(2)*w(3) - u(3)*w(2)
                    s%w(i, j, k, 2) = u(3)*w(1) - u(1)*w(3)
                    s%w(i, j, k, 3) = u(1)*w(2) - u(2)*w(1)
                end do
            end do
        end do
        call s%fft%to_spectral(s%w, rate)
        call s%project(rate)
    end subroutine nonlinear

    !> One component of curl v.
    subroutine curl(s, v, component, r)
        class(solver), intent(in) :: s
        complex(dp), contiguous, intent(in) :: v(:, :, :, :)
        integer, intent(in) :: component
        complex(dp), contiguous, intent(inout) :: r(:, :, :)
        integer :: i, j

        do j = 1, s%g%ky%n
            do i = 1, s%g%x%n
                select case (component)
                case (1)
                    r(:, i, j) = i_unit*(s%ky(j)*v(:, i, j, 3) - s%kz*v(:, i, j, 2))
                case (2)
                    r(:, i, j) = i_unit*(s%kz*v(:, i, j, 1) - s%kx(i)*v(:, i, j, 3))
                case (3)
                    r(:, i, j) = i_unit*(s%kx(i)*v(:, i, j, 2) - s%ky(j)*v(:, i, j, 1))
                end select
            end do
        end do
    end subroutine curl

    !> Normalise fresh transforms, cut the modes that may be aliased, remove the gradient part.
    subroutine project(s, r)
        class(solver), intent(in) :: s
        complex(dp), contiguous, intent(inout) :: r(:, :, :, :)
        complex(dp) :: p
        integer :: i, j, k

        do j = 1, s%g%ky%n
            do i = 1, s%g%x%n
                do k = 1, s%g%n(3)
                    p = s%kx(i)*r(k, i, j, 1) + s%ky(j)*r(k, i, j, 2) + s%kz(k)*r(k, i, j, 3)
                    p = p*s%inverse_k2(k, i, j)
                    r(k, i, j, 1) = s%keep(k, i, j)*(r(k, i, j, 1) - s%kx(i)*p)
                    r(k, i, j, 2) = s%keep(k, i, j)*(r(k, i, j, 2) - s%ky(j)*p)
                    r(k, i, j, 3) = s%keep(k, i, j)*(r(k, i, j, 3) - s%kz(k)*p)
                end do
            end do
        end do
    end subroutine project

end module navier_stokes
