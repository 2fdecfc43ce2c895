! SPDX-License-Identifier: BSD-3-Clause
! kinds.F90 - the number kinds used everywhere, and the one way to give up.
module kinds
    use, intrinsic :: iso_c_binding, only: c_double, c_int64_t
    use, intrinsic :: iso_fortran_env, only: error_unit
    use mpi, only: MPI_COMM_WORLD, MPI_Comm_rank, MPI_Finalize
    implicit none
    private
    public :: dp, i64, two_pi, give_up

    integer, parameter :: dp = c_double
    integer, parameter :: i64 = c_int64_t
    real(dp), parameter :: two_pi = 6.283185307179586476925286766559_dp

contains

    !> End the program on every rank with exit code 2 and one message. Every rank must call it:
    !> it is for mistakes that all ranks see alike, such as a wrong command line.
    subroutine give_up(message)
        character(*), intent(in) :: message
        integer :: rank, ierror

        call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
        if (rank == 0) write (error_unit, '(2a)') 'turbulence: error: ', message
        call MPI_Finalize(ierror)
        stop 2, quiet=.true.
    end subroutine give_up

end module kinds
