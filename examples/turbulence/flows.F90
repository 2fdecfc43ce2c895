! SPDX-License-Identifier: BSD-3-Clause
! flows.F90 - the flows to start from, and their exact continuation where there is one.
!
! tgv   3-D Taylor-Green vortex: no exact continuation is known
! tg2d  2-D Taylor-Green vortex, decays as exp(-2 nu t): u x omega is a gradient, so the pressure
!       has to balance it exactly
! abc   Arnold-Beltrami-Childress flow, decays as exp(-nu t): curl u = u, truly 3-D
! Alone, the exact solutions would leave the nonlinear term at zero after projection. Here they are
! carried by a steady wind, u(x, t) = wind + f(t) u0(x - wind t), again an exact solution: now
! advection, time integration and all directions matter.
module flows
    use kinds, only: dp
    implicit none
    private
    public :: velocity, exact_energy, has_exact_solution, wind, fastest_phase

    real(dp), parameter :: wind(3) = [1.0_dp, 0.5_dp, 0.25_dp]
    !> Upper bound of |k . wind| over the modes of both exact solutions: (1, 1, 0) of tg2d.
    real(dp), parameter :: fastest_phase = 1.5_dp
    !> Amplitudes of the ABC flow, unequal so that an exchange of directions shows.
    real(dp), parameter :: a = 1.0_dp, b = 0.8_dp, c = 0.6_dp

contains

    pure function has_exact_solution(case) result(yes)
        character(*), intent(in) :: case
        logical :: yes

        yes = case /= 'tgv'
    end function has_exact_solution

    !> Velocity of a flow at one point and time (tgv: of its start).
    pure function velocity(case, position, t, nu) result(u)
        character(*), intent(in) :: case
        real(dp), intent(in) :: position(3), t, nu
        real(dp) :: u(3), x, y, z

        x = position(1) - wind(1)*t
        y = position(2) - wind(2)*t
        z = position(3) - wind(3)*t
        select case (case)
        case ('tg2d')
            u = wind + exp(-2*nu*t)*[cos(x)*sin(y), -sin(x)*cos(y), 0.0_dp]
        case ('abc')
            u = wind + exp(-nu*t)*[a*sin(z) + c*cos(y), b*sin(x) + a*cos(z), c*sin(y) + b*cos(x)]
        case default
            x = position(1)
            y = position(2)
            z = position(3)
            u = [sin(x)*cos(y)*cos(z), -cos(x)*sin(y)*cos(z), 0.0_dp]
        end select
    end function velocity

    !> Mean kinetic energy per unit mass at time t (tgv: at the start).
    pure function exact_energy(case, t, nu) result(energy)
        character(*), intent(in) :: case
        real(dp), intent(in) :: t, nu
        real(dp) :: energy

        select case (case)
        case ('tg2d')
            energy = (sum(wind**2) + exp(-4*nu*t)/2)/2
        case ('abc')
            energy = (sum(wind**2) + exp(-2*nu*t)*(a**2 + b**2 + c**2))/2
        case default
            energy = 0.125_dp
        end select
    end function exact_energy

end module flows
