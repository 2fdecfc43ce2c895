/* SPDX-License-Identifier: BSD-3-Clause */
/* step.c - the exchanges of a time step are recorded once and replayed in each step: the root gives
 * each rank its part of four fields, and all ranks tell each other a sum of each. */
#include <crestacoll.h>
#include <stdio.h>
#include <stdlib.h>

enum { FIELDS = 4, PART = 2, STEPS = 5 };

int main(int argc, char **argv)
{
    int rank, size, wrong = 0, calls, merged, parts, before, now;
    CRESTA_Recording step;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double *fields = calloc((size_t)(FIELDS * PART * size), sizeof *fields);
    double *sums = calloc((size_t)(FIELDS * size), sizeof *sums);
    double mine[FIELDS][PART], sum[FIELDS] = {0};
    CRESTA_Set_impl(MPI_COMM_WORLD, "*=p2p");

    CRESTA_Record_begin(MPI_COMM_WORLD);
    for (int f = 0; f < FIELDS; f++)
        CRESTA_Scatter(fields + f * PART * size, PART, MPI_DOUBLE, mine[f], PART, MPI_DOUBLE, 0,
                       MPI_COMM_WORLD);
    for (int f = 0; f < FIELDS; f++)
        CRESTA_Allgather(&sum[f], 1, MPI_DOUBLE, sums + f * size, 1, MPI_DOUBLE, MPI_COMM_WORLD);
    CRESTA_Record_end(&step);

    for (int t = 1; t <= STEPS; t++) {
        for (int i = 0; rank == 0 && i < FIELDS * PART * size; i++)
            fields[i] = t * i;
        for (int f = 0; f < FIELDS; f++)
            sum[f] = t + rank + f;
        CRESTA_Replay_start(step);
        CRESTA_Replay_end(step);
        for (int f = 0; f < FIELDS; f++) {
            for (int i = 0; i < PART; i++)
                wrong += mine[f][i] != t * ((f * size + rank) * PART + i);
            for (int i = 0; i < size; i++)
                wrong += sums[f * size + i] != t + i + f;
        }
    }
    CRESTA_Recording_info(step, &calls, &merged, &parts, &before, &now);
    if (rank == 0)
        printf("%d of %d calls merged, %d messages instead of %d; %d wrong\n", merged, calls, now,
               before, wrong);
    CRESTA_Recording_free(&step);
    free(fields);
    free(sums);
    MPI_Finalize();
    return wrong != 0;
}
