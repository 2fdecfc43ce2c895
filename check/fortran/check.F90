! SPDX-License-Identifier: BSD-3-Clause
!> crestacoll-check-fortran: collectives of module crestacoll, each with an implementation, against
!> the MPI's own on equal data.  `crestacoll check` runs it:
!>
!>     mpiexec -n 2 crestacoll-check-fortran [--progress] [--stop] [--timeout=S] [--seconds=S]
!>                                           COLLECTIVE=IMPLEMENTATION ...
!>
!> The options are those of crestacoll-check.  Exit code 1 if something is wrong.
program crestacoll_check_fortran
    use check_base
    use check_integer, only: check_integers => check
    use check_real, only: check_reals => check
    use check_double, only: check_doubles => check
    use crestacoll
    implicit none
    type(group_type) :: groups(3)
    logical :: progress = .false., stopping = .false., good = .true.
    integer(c_int) :: timeout = 60
    real :: seconds = 1.0
    character(128) :: word
    integer :: i, rc

    rc = unsetenv('CRESTA_IMPL'//c_null_char)          ! it would go before what is checked
    rc = setenv('CRESTA_FALLBACK'//c_null_char, 'error'//c_null_char, 1_c_int)
    call MPI_Init(rc)
    call make_groups()
    do i = 1, command_argument_count()
        call get_command_argument(i, word)
        if (word(1:2) == '--') then
            call read_option(trim(word))
        else if (good .or. .not. stopping) then
            good = .not. run_cell(trim(word)) .and. good
        end if
    end do
    if (me == 0) call say('end: '//digits(fine_cells)//' fine, '//digits(not_here)// &
        ' not here, '//digits(wrong_cells)//' wrong')
    if (.not. good) stop 1                             ! messages may be left that nobody takes
    call MPI_Finalize(rc)

contains

    subroutine read_option(option)
        character(*), intent(in) :: option
        character(:), allocatable :: value
        value = option(index(option, '=') + 1:)
        select case (option(:index(option//'=', '=') - 1))
        case ('--progress')
            progress = .true.
        case ('--stop')
            stopping = .true.
        case ('--timeout')
            read (value, *) timeout
        case ('--seconds')
            read (value, *) seconds
        case default
            if (me == 0) call say('crestacoll-check-fortran: no option '//option)
            error stop 2
        end select
    end subroutine read_option

    subroutine make_groups()
        integer :: reversed, odd, g
        call MPI_Comm_rank(MPI_COMM_WORLD, me, rc)
        call MPI_Comm_split(MPI_COMM_WORLD, 0, -me, reversed, rc)
        call MPI_Comm_split(MPI_COMM_WORLD, mod(me, 2), me, odd, rc)
        groups%name = [character(8) :: 'world', 'reversed', 'odd/even']
        groups%comm = [MPI_COMM_WORLD, reversed, odd]
        do g = 1, size(groups)
            call MPI_Comm_rank(groups(g)%comm, groups(g)%rank, rc)
            call MPI_Comm_size(groups(g)%comm, groups(g)%ranks, rc)
            call MPI_Comm_set_errhandler(groups(g)%comm, MPI_ERRORS_RETURN, rc)
            call make_near(groups(g))
        end do
    end subroutine make_groups

    !> No two edges between the same ranks: there some MPIs are wrong (docs/mpi-defects.md).
    subroutine make_near(group)
        type(group_type), intent(inout) :: group
        integer :: all(group%ranks), r
        all = [(r, r = 0, group%ranks - 1)]
        call MPI_Dist_graph_create_adjacent(group%comm, group%ranks, all, MPI_UNWEIGHTED, &
            group%ranks, all, MPI_UNWEIGHTED, MPI_INFO_NULL, .false., group%near, rc)
        call MPI_Comm_set_errhandler(group%near, MPI_ERRORS_RETURN, rc)
    end subroutine make_near

    !> True if something was wrong.
    logical function run_cell(cell)
        character(*), intent(in) :: cell
        type(group_type) :: group
        integer :: g, every, ignored
        ignored = alarm(timeout)
        call begin_cell(cell, progress)
        every = 1
        do g = 1, size(groups)
            group = groups(g)
            if (is_near()) group%comm = group%near
            call CRESTA_Set_impl(group%comm, cell, rc)
            if (rc /= MPI_SUCCESS) then
                call tell_wrong('return code of CRESTA_Set_impl', digits(MPI_SUCCESS), &
                    digits(rc), trim(group%name))
                cycle
            end if
            if (g == 1) every = first_pass(group)
            call check_integers(group, every)
            if (coll /= 'barrier') then
                call check_reals(group, every)
                call check_doubles(group, every)
            end if
            if (tried == refused) exit                 ! not here: small groups make no difference
        end do
        run_cell = end_cell(cell)
    end function run_cell

    !> A few problems say how long they take here: every how many-th is tried then.
    integer function first_pass(group)
        type(group_type), intent(in) :: group
        integer, parameter :: few = 7, more = 9        ! types and communicators besides this one
        double precision :: start
        integer :: total(1)
        start = MPI_Wtime()
        call check_integers(group, few)
        total = summed([int(1e6 * few * more * (MPI_Wtime() - start))])
        first_pass = min(few, 1 + int(total(1) / group%ranks / (1e6 * seconds)))
    end function first_pass

end program crestacoll_check_fortran
