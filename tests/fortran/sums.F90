! SPDX-License-Identifier: BSD-3-Clause
!> CRESTA_Repro_sum in Fortran: real and complex numbers of two kinds, sections with gaps, arrays of
!> any rank, counts of two kinds; and what is not of the kind of the result.
#include "binding.inc"
program sums
    USE_MPI
    use, intrinsic :: iso_c_binding, only: c_int64_t
    implicit none
    INCLUDE_MPI
    integer, parameter :: n = 6
    integer :: me, ranks, ierr, checks, failures, i
    real :: x4(n), sum4
    double precision :: x8(2 * n), grid(2, 3), sum8
    complex :: z4(n), csum4
    complex(kind(1.d0)) :: z8(n), csum8

    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierr)
    failures = 0
    checks = 0
    ! Large numbers that cancel, in the rank or with those of others; each rank leaves a quarter.
    x8 = 7
    x8(1:2 * n:2) = [1.d30, 0.25d0, -1.d30, 1.d22, 0.d0, -1.d22]
    x8(1) = 1.d30 * (me + 1) ! the next rank takes it away again
    x8(5) = -1.d30 * (modulo(me + 1, ranks) + 1)
    x4 = [real :: 1.e30, 0.25, -1.e30, 1.e12, 0., -1.e12]
    z4 = cmplx(x4, -x4)
    z8 = cmplx(x8(1:2 * n:2), [(dble(i), i=1, n)], kind(1.d0))
    grid = reshape([1.d300, 1.d0, -1.d300, 1.d300, -1.d300, 1.d0], [2, 3])

    call CRESTA_Repro_sum(x8(1:2 * n:2), n, sum8, MPI_COMM_WORLD IERR)
    call check(sum8 == 0.25d0 * ranks, 'a section of double precision')
    call CRESTA_Repro_sum(x8(1:2 * n:2), int(n, c_int64_t), sum8, MPI_COMM_WORLD IERR)
    call check(sum8 == 0.25d0 * ranks, 'a large count')
    call CRESTA_Repro_sum(x4, n, sum4, MPI_COMM_WORLD IERR)
    call check(sum4 == 0.25 * ranks, 'real numbers')
    call CRESTA_Repro_sum(z4, n, csum4, MPI_COMM_WORLD IERR)
    call check(csum4 == cmplx(0.25, -0.25) * ranks, 'complex numbers')
    call CRESTA_Repro_sum(z8, n, csum8, MPI_COMM_WORLD IERR)
    call check(csum8 == cmplx(0.25d0, 21.d0, kind(1.d0)) * ranks, 'double complex numbers')
    call CRESTA_Repro_sum(grid, 6, sum8, MPI_COMM_WORLD IERR)
    call check(sum8 == 2.d0 * ranks, 'a grid')
    call CRESTA_Repro_sum(grid(:, 2), 0, sum8, MPI_COMM_WORLD IERR)
    call check(sum8 == 0.d0, 'nothing')
    call CRESTA_Repro_sum(x4, n, sum8, MPI_COMM_WORLD, ierr)
    call check(ierr /= MPI_SUCCESS, 'another kind than that of the result')

    call MPI_Finalize(ierr)
    if (me == 0) write (*, '(a,i0,a)') 'sums: ', checks, ' checks'
    if (failures > 0 .or. checks == 0) error stop 1

contains

    subroutine check(good, what)
        logical, intent(in) :: good
        character(*), intent(in) :: what
        checks = checks + 1
        if (good) return
        failures = failures + 1
        write (*, '(a,i0,2a)') 'FAIL rank ', me, ': ', what
    end subroutine check
end program sums
