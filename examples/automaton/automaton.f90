! SPDX-License-Identifier: BSD-3-Clause
! automaton.f90 - the program of automaton.c in Fortran: each way in turn, all with the hash of the
! sequential program.
!
!     mpirun -n 2 automaton-fortran [ROWS [STEPS]]     256 rows, 1000 steps
program automaton
    use, intrinsic :: iso_fortran_env, only: int64, real64
    use mpi_f08
    use cells
    use ways
    implicit none
    integer :: rank, ranks, rows, steps, i, step, first, last, wrong
    integer(int64) :: right, all_strips
    real(real64) :: start, alone, took, slowest
    type(strip) :: s
    type(exchange) :: x

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    rows = argument(1, 256)
    steps = argument(2, 1000)
    if (rows < ranks .or. steps < 1) then
        if (rank == 0) print '(a)', 'automaton: a row for each rank and more, 1 step and more'
        call MPI_Abort(MPI_COMM_WORLD, 2)
    end if
    call sequential(right, alone)
    if (rank == 0) print '(4(i0, a), f0.2, a)', ranks, ' ranks, ', rows, ' rows, ', steps, &
        ' steps, hash ', right, '; sequential ', alone, ' us a step'

    wrong = 0
    first = int(int(rows, int64) * rank / ranks)
    last = int(int(rows, int64) * (rank + 1) / ranks) - 1
    do i = 1, size(names)
        s = make_strip(first, last - first + 1)
        call open_exchange(x, names(i))
        call MPI_Barrier(MPI_COMM_WORLD)
        start = MPI_Wtime()
        do step = 1, steps
            x%out(:, above) = s%now(:, 1)
            x%out(:, below) = s%now(:, s%rows)
            call begin_exchange(x, step)
            call inner(s)
            call end_exchange(x, step)
            call outer(s, x%rows(:, above, modulo(step, 2)), x%rows(:, below, modulo(step, 2)))
        end do
        took = (MPI_Wtime() - start) / steps * 1e6_real64
        call MPI_Reduce(took, slowest, 1, MPI_DOUBLE_PRECISION, MPI_MAX, 0, MPI_COMM_WORLD)
        call MPI_Allreduce(hash(s), all_strips, 1, MPI_INTEGER8, MPI_SUM, MPI_COMM_WORLD)
        if (all_strips /= right) wrong = wrong + 1
        if (rank == 0) print '(a, f12.2, a, f6.2, a)', names(i), slowest, &
            ' us a step, speed-up ', alone / slowest, &
            merge('  right', '  WRONG', all_strips == right)
        call close_exchange(x)
    end do
    call MPI_Finalize()
    if (wrong > 0) error stop 'wrong'

contains

    integer function argument(number, preset)
        integer, intent(in) :: number, preset
        character(32) :: text
        argument = preset
        if (command_argument_count() < number) return
        call get_command_argument(number, text)
        read (text, *) argument
    end function argument

    ! All rows on rank 0, and what a step took there.
    subroutine sequential(result, us)
        integer(int64), intent(out) :: result
        real(real64), intent(out) :: us
        type(strip) :: field
        integer :: step
        field = make_strip(0, merge(rows, 1, rank == 0))
        start = MPI_Wtime()
        do step = 1, merge(steps, 0, rank == 0)
            call inner(field)
            call outer(field, field%now(:, rows), field%now(:, 1))
        end do
        us = (MPI_Wtime() - start) / steps * 1e6_real64
        result = hash(field)
        call MPI_Bcast(result, 1, MPI_INTEGER8, 0, MPI_COMM_WORLD)
    end subroutine sequential
end program automaton
