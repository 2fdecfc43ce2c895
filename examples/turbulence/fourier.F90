! SPDX-License-Identifier: BSD-3-Clause
! fourier.F90 - the distributed 3-D Fourier transform: 1-D transforms by FFTW between transposes.
!
! Cost of one: 2 transposes; work: 6 pencils, shared by all. Neither direction is normalised.
! Plans are estimated, not measured: a measured plan may differ from run to run, and with it the
! last bits of the result.
module fourier
    use, intrinsic :: iso_c_binding
    use kinds, only: dp
    use pencils, only: pencil_grid
    use transposes, only: x_to_y, y_to_x, y_to_z, z_to_y
    implicit none
    private
    public :: transform, make_transform

    include 'fftw3.f03'

    type :: transform
        private
        type(pencil_grid) :: g
        type(c_ptr) :: x_forth, x_back, y_forth, y_back, z_forth, z_back
        complex(dp), allocatable :: a(:, :, :)                  !< x modes of x pencils
        complex(dp), allocatable :: b(:, :, :), c(:, :, :)      !< y pencils, before and after
        complex(dp), allocatable :: s(:, :, :)                  !< z pencils
        complex(dp), allocatable :: send(:), recv(:)
    contains
        procedure :: to_spectral
        procedure :: to_physical
    end type transform

contains

    function make_transform(g) result(t)
        type(pencil_grid), intent(in) :: g
        type(transform) :: t
        real(dp), allocatable :: u(:, :, :)             ! stand for the caller's
        complex(dp), allocatable :: modes(:, :, :)
        integer :: most

        t%g = g
        allocate (u(g%n(1), g%y%n, g%z%n), t%a(g%n(1)/2 + 1, g%y%n, g%z%n))
        allocate (t%b(g%n(2), g%x%n, g%z%n), t%c(g%n(2), g%x%n, g%z%n))
        allocate (t%s(g%n(3), g%x%n, g%ky%n), modes(g%n(3), g%x%n, g%ky%n))
        most = max(g%mx*g%y%n*g%z%n, size(t%b), size(t%s))
        allocate (t%send(most), t%recv(most))

        t%x_forth = fftw_plan_many_dft_r2c(1, [g%n(1)], g%y%n*g%z%n, u, [g%n(1)], 1, g%n(1), &
                                           t%a, [size(t%a, 1)], 1, size(t%a, 1), FFTW_ESTIMATE)
        t%x_back = fftw_plan_many_dft_c2r(1, [g%n(1)], g%y%n*g%z%n, &
                                          t%a, [size(t%a, 1)], 1, size(t%a, 1), &
                                          u, [g%n(1)], 1, g%n(1), FFTW_ESTIMATE)
        t%y_forth = plan_lines(t%b, t%c, FFTW_FORWARD)
        t%y_back = plan_lines(t%b, t%c, FFTW_BACKWARD)
        t%z_forth = plan_lines(t%s, modes, FFTW_FORWARD)
        t%z_back = plan_lines(modes, t%s, FFTW_BACKWARD)
    end function make_transform

    !> Plan the complex transforms of all lines along the first direction.
    function plan_lines(from, to, direction) result(plan)
        complex(dp), contiguous, intent(inout) :: from(:, :, :), to(:, :, :)
        integer(c_int), intent(in) :: direction
        type(c_ptr) :: plan
        integer(c_int) :: n

        n = size(from, 1)
        plan = fftw_plan_many_dft(1, [n], size(from, 2)*size(from, 3), from, [n], 1, n, &
                                  to, [n], 1, n, direction, FFTW_ESTIMATE)
    end function plan_lines

    subroutine to_spectral(t, u, s)
        class(transform), intent(inout) :: t
        real(dp), contiguous, intent(inout) :: u(:, :, :)
        complex(dp), contiguous, intent(inout) :: s(:, :, :)

        call fftw_execute_dft_r2c(t%x_forth, u, t%a)
        call x_to_y(t%g, t%a, t%b, t%send, t%recv)
        call fftw_execute_dft(t%y_forth, t%b, t%c)
        call y_to_z(t%g, t%c, t%s, t%send, t%recv)
        call fftw_execute_dft(t%z_forth, t%s, s)
    end subroutine to_spectral

    subroutine to_physical(t, s, u)
        class(transform), intent(inout) :: t
        complex(dp), contiguous, intent(inout) :: s(:, :, :)     ! unchanged: FFTW says inout
        real(dp), contiguous, intent(inout) :: u(:, :, :)

        call fftw_execute_dft(t%z_back, s, t%s)
        call z_to_y(t%g, t%s, t%b, t%send, t%recv)
        call fftw_execute_dft(t%y_back, t%b, t%c)
        call y_to_x(t%g, t%c, t%a, t%send, t%recv)
        call fftw_execute_dft_c2r(t%x_back, t%a, u)
    end subroutine to_physical

end module fourier
