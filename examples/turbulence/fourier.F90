! SPDX-License-Identifier: BSD-3-Clause
! fourier.F90 - the distributed 3-D Fourier transform: 1-D transforms by FFTW between transposes.
!
! Cost of one: 2 transposes; work: 6 pencils, shared by all. Neither direction is normalised.
! With overlap two fields are under way: while one is transposed, the other is transformed.
! Plans are estimated, not measured: a measured plan may differ from run to run, and with it the
! last bits of the result.
module fourier
    use, intrinsic :: iso_c_binding
    use collectives, only: prepare
    use kinds, only: dp
    use pencils, only: pencil_grid
    use transposes, only: parcel, make_parcel, begin_x_to_y, begin_y_to_x, begin_y_to_z, &
                          begin_z_to_y, end_x_to_y, end_y_to_x, end_y_to_z, end_z_to_y
    implicit none
    private
    public :: transform, make_transform

    include 'fftw3.f03'

    !> The work of one field.
    type :: field_work
        complex(dp), allocatable :: a(:, :, :)                  !< x modes of x pencils
        complex(dp), allocatable :: b(:, :, :), c(:, :, :)      !< y pencils, before and after
        complex(dp), allocatable :: s(:, :, :)                  !< z pencils
        type(parcel) :: transpose
    end type field_work

    type :: transform
        private
        type(pencil_grid) :: g
        type(c_ptr) :: x_forth, x_back, y_forth, y_back, z_forth, z_back
        type(field_work), allocatable :: lanes(:)
    contains
        procedure :: to_spectral
        procedure :: to_physical
        procedure :: to_physical_two
        procedure, private :: forth
        procedure, private :: back
    end type transform

    integer, parameter :: stages = 3    !< of a transform: along x, y, z, or back

contains

    function make_transform(g, overlap) result(t)
        type(pencil_grid), intent(in) :: g
        logical, intent(in) :: overlap
        type(transform) :: t
        real(dp), allocatable :: u(:, :, :)             ! stand for the caller's
        complex(dp), allocatable :: modes(:, :, :)
        integer :: i

        t%g = g
        if (overlap) then
            call prepare(g%row)
            call prepare(g%col)
        end if
        allocate (u(g%n(1), g%y%n, g%z%n), modes(g%n(3), g%x%n, g%ky%n))
        allocate (t%lanes(merge(2, 1, overlap)))
        do i = 1, size(t%lanes)
            t%lanes(i) = make_lane(g, waits=.not. overlap)
        end do
        call make_plans(t, u, modes)
    end function make_transform

    function make_lane(g, waits) result(l)
        type(pencil_grid), intent(in) :: g
        logical, intent(in) :: waits
        type(field_work) :: l

        allocate (l%a(g%n(1)/2 + 1, g%y%n, g%z%n))
        allocate (l%b(g%n(2), g%x%n, g%z%n), l%c(g%n(2), g%x%n, g%z%n))
        allocate (l%s(g%n(3), g%x%n, g%ky%n))
        l%transpose = make_parcel(max(g%mx*g%y%n*g%z%n, size(l%b), size(l%s)), waits)
    end function make_lane

    !> Plans for the arrays of a lane; those of the others are alike.
    subroutine make_plans(t, u, modes)
        type(transform), intent(inout) :: t
        real(dp), intent(inout) :: u(:, :, :)
        complex(dp), contiguous, intent(inout) :: modes(:, :, :)
        integer :: n, lines

        associate (l => t%lanes(1))
            n = t%g%n(1)
            lines = t%g%y%n*t%g%z%n
            t%x_forth = fftw_plan_many_dft_r2c(1, [n], lines, u, [n], 1, n, &
                                               l%a, [size(l%a, 1)], 1, size(l%a, 1), FFTW_ESTIMATE)
            t%x_back = fftw_plan_many_dft_c2r(1, [n], lines, l%a, [size(l%a, 1)], 1, size(l%a, 1), &
                                              u, [n], 1, n, FFTW_ESTIMATE)
            t%y_forth = plan_lines(l%b, l%c, FFTW_FORWARD)
            t%y_back = plan_lines(l%b, l%c, FFTW_BACKWARD)
            t%z_forth = plan_lines(l%s, modes, FFTW_FORWARD)
            t%z_back = plan_lines(modes, l%s, FFTW_BACKWARD)
        end associate
    end subroutine make_plans

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

    !> All fields of a grid, the last index.
    subroutine to_spectral(t, u, s)
        class(transform), intent(inout) :: t
        real(dp), contiguous, intent(inout) :: u(:, :, :, :)
        complex(dp), contiguous, intent(inout) :: s(:, :, :, :)
        integer :: first, stage, f

        do first = 1, size(u, 4), size(t%lanes)
            do stage = 1, stages
                do f = first, min(first + size(t%lanes) - 1, size(u, 4))
                    call t%forth(f - first + 1, stage, u(:, :, :, f), s(:, :, :, f))
                end do
            end do
        end do
    end subroutine to_spectral

    subroutine to_physical(t, s, u)
        class(transform), intent(inout) :: t
        complex(dp), contiguous, intent(inout) :: s(:, :, :, :)     ! unchanged: FFTW says inout
        real(dp), contiguous, intent(inout) :: u(:, :, :, :)
        integer :: first, stage, f

        do first = 1, size(u, 4), size(t%lanes)
            do stage = 1, stages
                do f = first, min(first + size(t%lanes) - 1, size(u, 4))
                    call t%back(f - first + 1, stage, s(:, :, :, f), u(:, :, :, f))
                end do
            end do
        end do
    end subroutine to_physical

    !> Two fields that are not in one array.
    subroutine to_physical_two(t, s, u, s2, u2)
        class(transform), intent(inout) :: t
        complex(dp), contiguous, intent(inout) :: s(:, :, :), s2(:, :, :)     ! unchanged
        real(dp), contiguous, intent(inout) :: u(:, :, :), u2(:, :, :)
        integer :: stage

        do stage = 1, stages
            call t%back(1, stage, s, u)
            if (size(t%lanes) == 2) call t%back(2, stage, s2, u2)
        end do
        do stage = 1, merge(stages, 0, size(t%lanes) == 1)
            call t%back(1, stage, s2, u2)
        end do
    end subroutine to_physical_two

    !> A stage of the transform of a field: from where its last transpose ends to where the next
    !> begins.
    subroutine forth(t, lane, stage, u, s)
        class(transform), intent(inout) :: t
        integer, intent(in) :: lane, stage
        real(dp), contiguous, intent(inout) :: u(:, :, :)
        complex(dp), contiguous, intent(inout) :: s(:, :, :)

        associate (l => t%lanes(lane))
            select case (stage)
            case (1)
                call fftw_execute_dft_r2c(t%x_forth, u, l%a)
                call begin_x_to_y(t%g, l%a, l%transpose)
            case (2)
                call end_x_to_y(t%g, l%transpose, l%b)
                call fftw_execute_dft(t%y_forth, l%b, l%c)
                call begin_y_to_z(t%g, l%c, l%transpose)
            case (3)
                call end_y_to_z(t%g, l%transpose, l%s)
                call fftw_execute_dft(t%z_forth, l%s, s)
            end select
        end associate
    end subroutine forth

    subroutine back(t, lane, stage, s, u)
        class(transform), intent(inout) :: t
        integer, intent(in) :: lane, stage
        complex(dp), contiguous, intent(inout) :: s(:, :, :)
        real(dp), contiguous, intent(inout) :: u(:, :, :)

        associate (l => t%lanes(lane))
            select case (stage)
            case (1)
                call fftw_execute_dft(t%z_back, s, l%s)
                call begin_z_to_y(t%g, l%s, l%transpose)
            case (2)
                call end_z_to_y(t%g, l%transpose, l%b)
                call fftw_execute_dft(t%y_back, l%b, l%c)
                call begin_y_to_x(t%g, l%c, l%transpose)
            case (3)
                call end_y_to_x(t%g, l%transpose, l%a)
                call fftw_execute_dft_c2r(t%x_back, l%a, u)
            end select
        end associate
    end subroutine back

end module fourier
