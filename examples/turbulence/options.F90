! SPDX-License-Identifier: BSD-3-Clause
! options.F90 - the command line: one table of defaults, one message for a mistake.
module options
    use kinds, only: dp, give_up
    use mpi
    implicit none
    private
    public :: settings, read_options, print_help

    type :: settings
        character(8) :: case = 'tgv'
        integer :: grid(3) = 64
        integer :: procs(2) = 0         !< 0: chosen from the number of ranks
        integer :: steps = 20
        integer :: every = 0            !< 0: steps/5, at least 1
        real(dp) :: nu = 0.01_dp
        real(dp) :: dt = 0              !< 0: 1.28 / largest number of points
        logical :: overlap = .false.
        logical :: help = .false.
    end type settings

contains

    subroutine print_help()
        print '(a)', &
            'usage: turbulence [option ...]', &
            'Solve the incompressible Navier-Stokes equations in a periodic box, and check it.', &
            '', &
            '  --case tgv|tg2d|abc   3-D Taylor-Green vortex (default), or exact ones:', &
            '                        2-D Taylor-Green vortex, 3-D ABC flow, both in a wind', &
            '  --grid N|NXxNYxNZ     grid points, each at least 4 (default 64)', &
            '  --procs RxC           process grid, R*C = number of ranks (default: near square)', &
            '  --steps S             time steps, at least 1 (default 20)', &
            '  --dt T                length of a step (default 1.28 / largest grid number)', &
            '  --reynolds RE         Reynolds number; sets the viscosity to 1/RE (default 100)', &
            '  --nu NU               viscosity, 0 or more (default 0.01)', &
            '  --every K             print energy and enstrophy every K steps (default S/5)', &
            '  --overlap             transpose fields while others are transformed', &
            '  --help                this text', &
            '', &
            'Output: `key: value` lines. Exit code 0: checks passed; 1: one failed; 2: bad option.'
    end subroutine print_help

    function read_options() result(o)
        type(settings) :: o
        character(:), allocatable :: name
        integer :: i

        i = 1
        do while (i <= command_argument_count())
            name = argument(i)
            if (name == '--help' .or. name == '-h') then
                o%help = .true.
                return
            end if
            if (name == '--overlap') then
                o%overlap = .true.
                i = i + 1
                cycle
            end if
            if (index(' --case --grid --procs --steps --dt --reynolds --nu --every ', &
                      ' ' // name // ' ') == 0) &
                call give_up('unknown option "' // name // '"; see --help')
            if (i == command_argument_count()) call give_up(name // ': its value is missing')
            call set(o, name, argument(i + 1))
            i = i + 2
        end do
        call complete(o)
    end function read_options

    subroutine set(o, name, value)
        type(settings), intent(inout) :: o
        character(*), intent(in) :: name, value

        select case (name)
        case ('--case')
            if (all(value /= ['tgv ', 'tg2d', 'abc '])) &
                call expected(name, value, 'tgv, tg2d or abc')
            o%case = value
        case ('--grid')
            if (index(value, 'x') == 0) then
                o%grid = numbers(name, value, 1, 4, 'N or NXxNYxNZ with numbers of at least 4')
            else
                o%grid = numbers(name, value, 3, 4, 'N or NXxNYxNZ with numbers of at least 4')
            end if
        case ('--procs')
            o%procs = numbers(name, value, 2, 1, 'RxC with numbers of at least 1')
        case ('--steps')
            o%steps = one(numbers(name, value, 1, 1, 'a number of at least 1'))
        case ('--every')
            o%every = one(numbers(name, value, 1, 1, 'a number of at least 1'))
        case ('--dt')
            o%dt = positive(name, value, 'a number above 0')
        case ('--reynolds')
            o%nu = 1/positive(name, value, 'a number above 0')
        case ('--nu')
            o%nu = positive(name, value, 'a number of at least 0', or_zero=.true.)
        end select
    end subroutine set

    !> Fill in what depends on other options or on the number of ranks.
    subroutine complete(o)
        type(settings), intent(inout) :: o
        character(80) :: text
        integer :: ranks, dims(2), ierror

        call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
        if (all(o%procs == 0)) then
            dims = 0
            call MPI_Dims_create(ranks, 2, dims, ierror)
            o%procs = [minval(dims), maxval(dims)]
        end if
        if (product(o%procs) /= ranks) then
            write (text, '(a, i0, a, i0, a, i0, a, i0)') '--procs: ', o%procs(1), 'x', &
                o%procs(2), ' needs ', product(o%procs), ' ranks, but this run has ', ranks
            call give_up(trim(text))
        end if
        ! With this step kmax * dt * (|u| + |v| + |w|) stays below 1.7 for all cases at the start;
        ! the fourth order Runge-Kutta scheme is stable up to 2.8.
        if (o%dt <= 0) o%dt = 1.28_dp/maxval(o%grid)
        if (o%every == 0) o%every = max(1, o%steps/5)
    end subroutine complete

    !> "2x3" as [2, 3]; a single number where several are allowed is repeated by the assignment.
    function numbers(name, value, count, least, wanted) result(n)
        character(*), intent(in) :: name, value, wanted
        integer, intent(in) :: count, least
        integer :: n(merge(3, count, name == '--grid'))
        character(:), allocatable :: rest
        integer :: i, at, status

        rest = value
        n = 0
        do i = 1, count
            at = index(rest // 'x', 'x')
            if (verify(rest(:at - 1), '0123456789') /= 0 .or. at < 2 .or. at > 10) &
                call expected(name, value, wanted)
            read (rest(:at - 1), *, iostat=status) n(i)
            if (status /= 0 .or. n(i) < least) call expected(name, value, wanted)
            if ((i < count) .neqv. (at <= len(rest))) call expected(name, value, wanted)
            rest = rest(min(at + 1, len(rest) + 1):)
        end do
        if (count == 1) n = n(1)
    end function numbers

    pure function one(n) result(first)
        integer, intent(in) :: n(:)
        integer :: first

        first = n(1)
    end function one

    function positive(name, value, wanted, or_zero) result(x)
        character(*), intent(in) :: name, value, wanted
        logical, intent(in), optional :: or_zero
        real(dp) :: x
        integer :: status

        x = -1
        ! A list-directed read would take "1,2" or "3*" for a number, so the characters are checked.
        status = verify(value, '0123456789.eE+-')
        if (status == 0) read (value, *, iostat=status) x
        if (status == 0 .and. x >= 0 .and. x <= huge(x)) then
            if (x > 0 .or. present(or_zero)) return
        end if
        call expected(name, value, wanted)
    end function positive

    subroutine expected(name, value, wanted)
        character(*), intent(in) :: name, value, wanted

        call give_up(name // ' "' // value // '": expected ' // wanted)
    end subroutine expected

    function argument(i) result(text)
        integer, intent(in) :: i
        character(:), allocatable :: text
        integer :: length

        call get_command_argument(i, length=length)
        allocate (character(length) :: text)
        call get_command_argument(i, text)
    end function argument

end module options
