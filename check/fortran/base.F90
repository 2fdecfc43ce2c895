! SPDX-License-Identifier: BSD-3-Clause
!> What crestacoll-check-fortran prints (check/tell.h says how), and what its problems are.
module check_base
    use, intrinsic :: iso_c_binding, only: c_char, c_int, c_null_char
    use, intrinsic :: iso_fortran_env, only: output_unit
    use mpi
    implicit none
    public

    type :: group_type
        character(8) :: name
        integer :: comm, rank, ranks
        integer :: near                                ! where all ranks are neighbours, in order
    end type group_type

    !> Uneven blocks are alike both ways: what rank s sends to d is as long as what d sends to s.
    type :: problem_type
        character(32) :: coll
        type(group_type) :: group
        integer :: n, root, op, mine                   ! mine: elements of this rank's uneven block
        logical :: in_place
        integer, allocatable :: counts(:), displs(:), bytes(:), types(:)
        integer(MPI_ADDRESS_KIND), allocatable :: addresses(:)
    end type problem_type

    integer :: me = 0                                  ! in the world
    integer :: compared, wrong, tried, refused         ! of the cell that is tried
    integer :: fine_cells = 0, not_here = 0, wrong_cells = 0
    character(32) :: coll
    character(64) :: impl

    interface
        integer(c_int) function sched_yield() bind(c)
            import :: c_int
        end function sched_yield
        integer(c_int) function alarm(seconds) bind(c)
            import :: c_int
            integer(c_int), value :: seconds
        end function alarm
        integer(c_int) function setenv(name, value, overwrite) bind(c)
            import :: c_char, c_int
            character(kind=c_char), intent(in) :: name(*), value(*)
            integer(c_int), value :: overwrite
        end function setenv
        integer(c_int) function unsetenv(name) bind(c)
            import :: c_char, c_int
            character(kind=c_char), intent(in) :: name(*)
        end function unsetenv
    end interface

contains

    subroutine say(text)
        character(*), intent(in) :: text
        write (output_unit, '(a)') text
        flush (output_unit)
    end subroutine say

    function digits(number) result(text)
        integer, intent(in) :: number
        character(:), allocatable :: text
        character(12) :: room
        write (room, '(i0)') number
        text = trim(room)
    end function digits

    !> COLLECTIVE=IMPLEMENTATION is tried from now on.
    subroutine begin_cell(word, progress)
        character(*), intent(in) :: word
        logical, intent(in) :: progress
        coll = word(:index(word, '=') - 1)
        impl = word(index(word, '=') + 1:)
        compared = 0
        wrong = 0
        tried = 0
        refused = 0
        if (progress .and. me == 0) call say('trying: '//word)
    end subroutine begin_cell

    !> A comparison failed: the first one of a cell is reported.
    subroutine tell_wrong(place, expected, found, problem)
        character(*), intent(in) :: place, expected, found, problem
        compared = compared + 1
        wrong = wrong + 1
        if (wrong > 1) return
        call say('Error in CRESTA_'//achar(iachar(coll(1:1)) - 32)//trim(coll(2:))//': '// &
            trim(impl)//', Fortran, rank '//digits(me)//', '//place//': expected '// &
            trim(expected)//', found '//trim(found)//' ('//problem//')')
    end subroutine tell_wrong

    !> What all ranks found together.  Returns whether something was wrong, the same everywhere.
    logical function end_cell(word)
        character(*), intent(in) :: word
        integer :: sums(4), ignored
        sums = summed([tried, refused, compared, wrong])
        end_cell = sums(4) > 0
        if (sums(4) > 0) then
            wrong_cells = wrong_cells + 1
            if (me == 0) call say('wrong: '//word//': '//digits(sums(4))//' comparisons of '// &
                digits(sums(3)))
        else if (sums(1) == sums(2)) then
            not_here = not_here + 1
            if (me == 0) call say('not here: '//word//': every call was refused')
        else
            fine_cells = fine_cells + 1
            if (me == 0) call say('fine: '//word//': '//digits(sums(1))//' calls, '// &
                digits(sums(2))//' refused')
        end if
        ignored = alarm(0_c_int)
    end function end_cell

    function summed(numbers) result(sums)
        integer, intent(in) :: numbers(:)
        integer, asynchronous :: sums(size(numbers)), mine(size(numbers))
        integer :: request, rc
        mine = numbers
        call MPI_Iallreduce(mine, sums, size(numbers), MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, &
            request, rc)
        rc = finished(request)
    end function summed

    !> Waits without holding the core; returns the error code.
    integer function finished(request)
        integer, intent(inout) :: request
        logical :: done
        integer :: ignored
        done = .false.
        finished = MPI_SUCCESS
        do while (.not. done .and. finished == MPI_SUCCESS)
            call MPI_Test(request, done, MPI_STATUS_IGNORE, finished)
            if (.not. done) ignored = sched_yield()
        end do
    end function finished

    function problem_of(group, n, root, in_place, number) result(p)
        type(group_type), intent(in) :: group
        integer, intent(in) :: n, root, number
        logical, intent(in) :: in_place
        type(problem_type) :: p
        integer :: r, pairs
        pairs = merge(group%rank, 0, any(coll == [character(18) :: 'alltoallv', 'alltoallw', &
            'neighbor_alltoallv', 'neighbor_alltoallw']))
        p%coll = coll
        p%group = group
        p%n = n
        p%root = root
        p%op = merge(MPI_SUM, MPI_MAX, mod(number, 2) == 0)
        p%in_place = in_place
        p%mine = n * mod(group%rank + 1, 3)
        p%counts = [(n * mod(r + pairs + 1, 3), r = 0, group%ranks - 1)]
        p%displs = [(sum(p%counts(:r)) + r, r = 0, group%ranks - 1)]   ! with a gap of one element
    end function problem_of

    logical function is_near()
        is_near = index(coll, 'neighbor_') == 1
    end function is_near

    logical function rooted()
        rooted = any(coll == [character(8) :: 'bcast', 'gather', 'gatherv', 'scatter', &
            'scatterv', 'reduce'])
    end function rooted

    !> As words, for messages.
    function text_of(p) result(text)
        type(problem_type), intent(in) :: p
        character(:), allocatable :: text
        text = digits(p%n)//' elements on '//trim(p%group%name)//' of '//digits(p%group%ranks)
        if (rooted()) text = text//', root '//digits(p%root)
        if (p%in_place) text = text//', in place'
    end function text_of

    !> The elements of the receive buffer that MPI defines, from the first on.
    integer function defined_elements(p, room)
        type(problem_type), intent(in) :: p
        integer, intent(in) :: room
        defined_elements = room
        if (coll == 'exscan' .and. p%group%rank == 0) defined_elements = 0
        if (coll == 'reduce_scatter' .and. p%in_place) defined_elements = p%mine
        if (coll == 'reduce_scatter_block' .and. p%in_place) defined_elements = p%n
    end function defined_elements

end module check_base
