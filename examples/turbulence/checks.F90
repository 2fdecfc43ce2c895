! SPDX-License-Identifier: BSD-3-Clause
! checks.F90 - is the answer right? Compares a finished run with what mathematics says.
!
! Limits at rounding level are for results of O(1) after some 10^4 operations each; the others are
! bounds of the time integration error, derived where they are used.
module checks
    use, intrinsic :: iso_fortran_env, only: output_unit
    use kinds, only: dp
    use pencils, only: highest_mode
    use navier_stokes, only: solver
    use diagnostics, only: component_energies, divergence, energy_transfer, velocity_error
    use flows, only: exact_energy, has_exact_solution, wind, fastest_phase
    use symmetry, only: asymmetry
    implicit none
    private
    public :: check_run

    real(dp), parameter :: rounding = 1e-13_dp

contains

    !> Run all checks that fit the case. s%u must hold the velocity at the end of the run, energy
    !> and enstrophy their values after 0, 1, ... steps. Every rank calls it; one `talks`.
    function check_run(s, case, energy, enstrophy, talks) result(good)
        type(solver), intent(inout) :: s
        character(*), intent(in) :: case
        real(dp), intent(in) :: energy(0:), enstrophy(0:)
        logical, intent(in) :: talks
        logical :: good
        real(dp) :: t, parts(3)

        integer :: early

        t = s%dt*ubound(energy, 1)
        good = .true.
        call check('initial_energy', abs(energy(0) - exact_energy(case, 0.0_dp, s%nu)), rounding)
        if (has_exact_solution(case)) then
            call check('exact_solution', velocity_error(s, case, t), exact_limit(t, s%dt))
            call check('exact_energy', abs(energy(ubound(energy, 1)) - &
                       exact_energy(case, t, s%nu)), exact_limit(t, s%dt))
        else
            early = min(ubound(energy, 1), int(0.5_dp/((1 + 10*s%nu)*s%dt)))
            if (early > 0 .and. minval(highest_mode(s%g%n)) >= 3) &
                call check('early_enstrophy', abs(enstrophy(early)/enstrophy(0) - &
                           enstrophy_series(early*s%dt, s%nu)), series_limit(early*s%dt, s))
            ! Rounding breaks the symmetries a little, and the flow strains what is broken at a
            ! rate of at most about 1: |du/dx| is 1 in the initial vortex.
            call check('symmetry', asymmetry(s), rounding*exp(min(t, 30.0_dp)))
            if (s%g%n(1) == s%g%n(2)) then
                parts = component_energies(s)
                call check('x_y_exchange', abs(parts(1) - parts(2)), rounding*exp(min(t, 30.0_dp)))
            end if
        end if
        call check('divergence', divergence(s), rounding)
        if (ubound(energy, 1) >= 4) &
            call check('energy_balance', imbalance(energy, enstrophy, s%nu, s%dt), &
                       balance_limit(maxval(enstrophy), s%nu, s%dt))
        ! Last, because it uses s%u as work.
        call check('energy_transfer', energy_transfer(s), 10*rounding)

    contains

        subroutine check(name, value, limit)
            character(*), intent(in) :: name
            real(dp), intent(in) :: value, limit
            logical :: ok

            ok = value <= limit     ! a NaN fails
            good = good .and. ok
            if (talks) write (output_unit, '(4a, es8.2, a, es8.2, a)') 'check_', name, ': ', &
                trim(merge('ok    ', 'FAILED', ok)) // ' (', value, ', limit ', limit, ')'
        end subroutine check

    end function check_run

    !> Largest |dE/dt + 2 nu Z| over the inner steps, dE/dt by fourth order central differences of
    !> the energies after each step, relative to E(0) per unit of time.
    pure function imbalance(e, z, nu, dt) result(largest)
        real(dp), intent(in) :: e(0:), z(0:), nu, dt
        real(dp) :: largest, slope
        integer :: i

        largest = 0
        do i = 2, ubound(e, 1) - 2
            slope = (8*(e(i + 1) - e(i - 1)) - (e(i + 2) - e(i - 2)))/(12*dt)
            largest = max(largest, abs(slope + 2*nu*z(i))/e(0))
        end do
    end function imbalance

    !> The difference formula errs by dt^4/30 |d5E/dt5|, the Runge-Kutta scheme by less. The rate of
    !> change of the energy is taken as that of turning eddies, the rms vorticity sqrt(2 Z), plus
    !> that of viscosity on the modes of the start, 2 nu k^2 with k^2 <= 3. The last term is the
    !> rounding of differences of energies.
    pure function balance_limit(z, nu, dt) result(limit)
        real(dp), intent(in) :: z, nu, dt
        real(dp) :: limit

        limit = (sqrt(2*z) + 6*nu)**5*dt**4/30 + rounding/dt
    end function balance_limit

    !> Enstrophy of the Taylor-Green vortex relative to its start, as the power series in t that
    !> Taylor and Green (1937) found; convergence.py derives these terms and more.
    pure function enstrophy_series(t, nu) result(z)
        real(dp), intent(in) :: t, nu
        real(dp) :: z

        z = 1 - 6*nu*t + (5/48.0_dp + 18*nu**2)*t**2 - (5/3.0_dp + 36*nu**2)*nu*t**3 &
            + (50/6336.0_dp + 1835*nu**2/144 + 54*nu**4)*t**4 &
            - (361/1408.0_dp + 761*nu**2/12 + 324*nu**4/5)*nu*t**5
    end function enstrophy_series

    !> The next term of the series, computed by convergence.py, is below ((1 + 10 nu) t)^6 / 720 for
    !> all viscosities. Cutting modes above 3 changes no earlier term. Runge-Kutta adds less than
    !> t dt^4 on the same scale of time.
    pure function series_limit(t, s) result(limit)
        real(dp), intent(in) :: t
        type(solver), intent(in) :: s
        real(dp) :: limit

        limit = ((1 + 10*s%nu)*t)**6/720 + t*((1 + 10*s%nu)*s%dt)**4 + rounding
    end function series_limit

    !> The exact solutions are sums of modes that turn with frequency k . wind; fourth order
    !> Runge-Kutta makes an error of (frequency dt)^5/120 a step in each. The sum of amplitudes
    !> is at most 2; the factor 2 covers it.
    pure function exact_limit(t, dt) result(limit)
        real(dp), intent(in) :: t, dt
        real(dp) :: limit

        limit = 2*t*fastest_phase**5*dt**4/120 + rounding*(1 + t/dt/10)*maxval(wind)
    end function exact_limit

end module checks
