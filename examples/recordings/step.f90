! SPDX-License-Identifier: BSD-3-Clause
!> The exchanges of a time step are recorded once and replayed in each step: the root gives each
!> rank its part of four fields, and all ranks tell each other a sum of each.
program step_of_fields
    use mpi_f08
    use crestacoll
    implicit none
    integer, parameter :: fields = 4, part = 2, steps = 5
    integer :: me, ranks, step, f, t, i, wrong, calls, merged, parts, before, now
    double precision, allocatable, asynchronous :: field(:, :), sums(:, :)
    double precision, asynchronous :: mine(part, fields), sum(fields)

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, me)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    allocate (field(part * ranks, fields), sums(ranks, fields))
    field = 0
    wrong = 0
    call CRESTA_Set_impl(MPI_COMM_WORLD, '*=p2p')

    call CRESTA_Record_begin(MPI_COMM_WORLD)
    do f = 1, fields
        call CRESTA_Scatter(field(:, f), part, MPI_DOUBLE_PRECISION, mine(:, f), part, &
            MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD)
    end do
    do f = 1, fields
        call CRESTA_Allgather(sum(f), 1, MPI_DOUBLE_PRECISION, sums(:, f), 1, &
            MPI_DOUBLE_PRECISION, MPI_COMM_WORLD)
    end do
    call CRESTA_Record_end(step)

    do t = 1, steps
        do f = 1, fields
            field(:, f) = [(dble(t * i + f), i=1, part * ranks)]
            sum(f) = t + me + f
        end do
        call CRESTA_Replay_start(step)
        call CRESTA_Replay_end(step)
        do f = 1, fields
            wrong = wrong + count(mine(:, f) /= [(dble(t * (me * part + i) + f), i=1, part)])
            wrong = wrong + count(sums(:, f) /= [(dble(t + i + f), i=0, ranks - 1)])
        end do
    end do
    call CRESTA_Recording_info(step, calls, merged, parts, before, now)
    if (me == 0) write (*, '(5(i0,a))') merged, ' of ', calls, ' calls merged, ', now, &
        ' messages instead of ', before, '; ', wrong, ' wrong'
    call CRESTA_Recording_free(step)
    call MPI_Finalize()
    if (wrong /= 0) error stop 1
end program step_of_fields
