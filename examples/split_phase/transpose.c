/* SPDX-License-Identifier: BSD-3-Clause */
/* transpose.c - two collectives are pending while the program computes: a transpose of the field
 * of this step, and the largest value of the field of the step before. */
#include <cresta_sp_coll.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCK = 1000, STEPS = 5 };

/* Uses no buffer of the pending operations. */
static double work(double x)
{
    for (int i = 0; i < 100000; i++) {
        x = cos(x);
        if (i % 10000 == 0) /* without a progress thread, operations progress here */
            CRESTA_Progress();
    }
    return x;
}

int main(int argc, char **argv)
{
    int rank, size, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double *field = malloc(sizeof(double) * BLOCK * (size_t)size);
    double *transposed = malloc(sizeof(double) * BLOCK * (size_t)size);
    double largest_here = 0, largest = 0, x = rank;

    for (int step = 1; step <= STEPS; step++) {
        MPI_Request requests[2];
        for (int i = 0; i < BLOCK * size; i++)
            field[i] = step * (rank + 1);

        CRESTA_Alltoall_begin(field, BLOCK, MPI_DOUBLE, transposed, BLOCK, MPI_DOUBLE,
                              MPI_COMM_WORLD, &requests[0]);
        CRESTA_Allreduce_begin(&largest_here, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD,
                               &requests[1]);
        x = work(x);
        CRESTA_Coll_end(2, requests);

        for (int i = 0; i < BLOCK * size; i++)
            wrong += transposed[i] != step * (i / BLOCK + 1);
        wrong += largest != (step - 1) * size;
        largest_here = field[0];
    }
    if (rank == 0)
        printf("work: %g, largest value: %g, %d wrong\n", x, largest, wrong);
    free(field);
    free(transposed);
    MPI_Finalize();
    return wrong != 0;
}
