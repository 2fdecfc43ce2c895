! SPDX-License-Identifier: BSD-3-Clause
! symmetry.F90 - how far the flow is from the symmetries that the Taylor-Green vortex keeps.
!
! Those are chosen that need no other rank's data, so that a fault of a transpose cannot cancel:
!   inversion     u(-x) = -u(x): all modes are imaginary
!   mirror in x   u odd, v and w even in x: seen on the grid, where x lines are complete
!   mirror in z   u and v even, w odd in z: seen in modes, where z lines are complete
!   shift         by pi in two directions at once: only modes with kx, ky, kz all odd or all even
! The mirror in y follows from the first three.
module symmetry
    use kinds, only: dp
    use collectives, only: global_max
    use navier_stokes, only: solver
    implicit none
    private
    public :: asymmetry

contains

    !> Largest deviation over the symmetries above; s%u must be the velocity on the grid.
    function asymmetry(s) result(largest)
        type(solver), intent(in) :: s
        real(dp) :: largest, deviations(4)

        deviations = [maxval(abs(real(s%v, dp))), mirror_x(s), mirror_z(s), shift(s)]
        ! maxval may pass over a NaN; a sum does not
        if (.not. abs(sum(s%u)) <= huge(largest)) deviations = 1e99_dp
        call global_max(deviations)
        largest = maxval(deviations)
    end function asymmetry

    pure function mirror_x(s) result(largest)
        type(solver), intent(in) :: s
        real(dp) :: largest
        integer :: i, n, twin

        largest = 0
        n = s%g%n(1)
        do i = 1, n
            twin = modulo(1 - i, n) + 1
            largest = max(largest, maxval(abs(s%u(i, :, :, 1) + s%u(twin, :, :, 1))), &
                          maxval(abs(s%u(i, :, :, 2:3) - s%u(twin, :, :, 2:3))))
        end do
    end function mirror_x

    pure function mirror_z(s) result(largest)
        type(solver), intent(in) :: s
        real(dp) :: largest
        integer :: k, n, twin

        largest = 0
        n = s%g%n(3)
        do k = 1, n
            twin = modulo(1 - k, n) + 1
            largest = max(largest, maxval(abs(s%v(k, :, :, 3) + s%v(twin, :, :, 3))), &
                          maxval(abs(s%v(k, :, :, 1:2) - s%v(twin, :, :, 1:2))))
        end do
    end function mirror_z

    pure function shift(s) result(largest)
        type(solver), intent(in) :: s
        real(dp) :: largest
        integer :: i, j, k

        largest = 0
        do j = 1, s%g%ky%n
            do i = 1, s%g%x%n
                do k = 1, s%g%n(3)
                    if (modulo(nint(s%kx(i) + s%ky(j)), 2) == 0 .and. &
                        modulo(nint(s%ky(j) + s%kz(k)), 2) == 0) cycle
                    largest = max(largest, maxval(abs(s%v(k, i, j, :))))
                end do
            end do
        end do
    end function shift

end module symmetry
