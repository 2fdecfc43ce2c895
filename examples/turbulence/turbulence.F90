! SPDX-License-Identifier: BSD-3-Clause
! turbulence.F90 - a pseudo-spectral Navier-Stokes solver on a 2-D pencil decomposition.
!
! An ordinary MPI program: it knows nothing of crestacoll (unless built with _CRESTA_COLLECTIVES,
! see collectives.F90). README.md says what it solves and what it prints.
program turbulence
    use, intrinsic :: iso_fortran_env, only: output_unit
    use mpi
    use kinds, only: dp
    use options, only: settings, read_options, print_help
    use collectives, only: tally, tallies, forget_tallies, max_over_ranks
    use pencils, only: make_pencils
    use navier_stokes, only: solver, make_solver
    use diagnostics, only: energy_and_enstrophy, fill_grid
    use checks, only: check_run
    use checksum, only: velocity_checksum
    implicit none

    type(settings) :: o
    type(solver) :: s
    type(tally), allocatable :: spent(:)
    real(dp), allocatable :: energy(:), enstrophy(:)
    real(dp) :: wall
    integer :: rank, ierror
    logical :: good

    call MPI_Init(ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    o = read_options()
    if (o%help) then
        if (rank == 0) call print_help()
        call MPI_Finalize(ierror)
        stop
    end if

    s = make_solver(make_pencils(o%grid, o%procs), o%nu, o%dt, o%overlap)
    if (rank == 0) call print_settings()
    call fill_grid(s, o%case, 0.0_dp, s%u)
    call s%set_velocity()
    allocate (energy(0:o%steps), enstrophy(0:o%steps))
    call run()

    call s%get_velocity()
    call print_line('checksum: ' // velocity_checksum(s))
    call print_times()
    good = check_run(s, o%case, energy, enstrophy, talks=rank == 0)
    call print_line('result: ' // trim(merge('ok    ', 'FAILED', good)))
    flush (output_unit)
    call MPI_Finalize(ierror)
    if (.not. good) stop 1, quiet=.true.

contains

    !> All time steps; the times printed later are those of this loop alone.
    subroutine run()
        integer :: n

        call note_energy(0)
        call forget_tallies()
        call MPI_Barrier(MPI_COMM_WORLD, ierror)
        wall = MPI_Wtime()
        do n = 1, o%steps
            call s%advance()
            call note_energy(n)
        end do
        wall = MPI_Wtime() - wall
        allocate (spent, source=tallies())
    end subroutine run

    subroutine note_energy(n)
        integer, intent(in) :: n
        real(dp) :: both(2)

        both = energy_and_enstrophy(s)
        energy(n) = both(1)
        enstrophy(n) = both(2)
        if (rank == 0 .and. (mod(n, o%every) == 0 .or. n == o%steps)) &
            print '(a, i0, 4(1x, es22.15))', 'history: ', n, n*o%dt, both, 2*o%nu*both(2)
    end subroutine note_energy

    subroutine print_settings()
        print '(2a)', 'case: ', trim(o%case)
        print '(a, 3(1x, i0))', 'grid:', o%grid
        print '(a, 2(1x, i0))', 'procs:', o%procs
        print '(a, i0)', 'steps: ', o%steps
        print '(a, es12.5)', 'dt: ', o%dt
        print '(a, es12.5)', 'nu: ', o%nu
        print '(a)', 'history_columns: step time energy enstrophy dissipation'
    end subroutine print_settings

    !> Times are those of the slowest rank.
    subroutine print_times()
        real(dp) :: slowest
        integer :: i

        slowest = max_over_ranks(wall)
        call print_line('wall: ' // seconds(slowest))
        do i = 1, size(spent)
            slowest = max_over_ranks(spent(i)%seconds)
            if (rank == 0) print '(5a, i0, a)', 'time_', trim(spent(i)%name), ': ', &
                seconds(slowest), ' in ', spent(i)%calls, ' calls'
        end do
    end subroutine print_times

    pure function seconds(t) result(text)
        real(dp), intent(in) :: t
        character(:), allocatable :: text
        character(20) :: digits

        write (digits, '(f20.6)') t
        text = trim(adjustl(digits)) // ' s'
    end function seconds

    subroutine print_line(text)
        character(*), intent(in) :: text

        if (rank == 0) print '(a)', text
    end subroutine print_line

end program turbulence
