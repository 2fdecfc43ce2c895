/* SPDX-License-Identifier: BSD-3-Clause */
/* steps.c [STEPS] - a small MPI program with time steps, for tools/check_wheel.py: an alltoall, a
 * sum, some computation; every result is checked. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { EACH = 512 };

static double compute(void)
{
    double x = 0;
    for (int i = 1; i < 20000; i++)
        x += 1.0 / i;
    return x;
}

int main(int argc, char **argv)
{
    const int steps = argc > 1 ? atoi(argv[1]) : 20;
    int rank, size, wrong = 0;
    double sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int *to = malloc(sizeof(int) * EACH * (size_t)size);
    int *from = malloc(sizeof(int) * EACH * (size_t)size);
    for (int step = 0; step < steps; step++) {
        double mine = rank + step, all = 0;
        for (int i = 0; i < EACH * size; i++)
            to[i] = 1000 * rank + i / EACH;
        sum += compute();
        MPI_Alltoall(to, EACH, MPI_INT, from, EACH, MPI_INT, MPI_COMM_WORLD);
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        for (int i = 0; i < EACH * size; i++)
            wrong += from[i] != 1000 * (i / EACH) + rank;
        wrong += all != size * (size - 1) / 2.0 + (double)size * step;
    }
    if (rank == 0)
        printf("%d steps of %d ranks, %d wrong\n", steps, size, wrong);
    free(to);
    free(from);
    MPI_Finalize();
    return wrong != 0 || sum < 0;
}
