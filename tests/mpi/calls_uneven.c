/* SPDX-License-Identifier: BSD-3-Clause */
/* calls_uneven.c - rank 2 computes more than ten times as long as any other, while they wait in the
 * MPI: for tests of what a profile says of load balance.  Each rank measures by itself how long it
 * computes; rank 0 prints that as microseconds.  Whatever else the machine does, rank 2 goes on
 * until it has computed ten times as long. */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

enum { LATE = 2, MOST = 64 };

static double uneven_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

/* The time that it took, which is at least what is asked for. */
static double uneven_compute(double us)
{
    const double start = uneven_now();
    double now = start;
    while (now - start < us)
        now = uneven_now();
    return now - start;
}

int main(int argc, char **argv)
{
    int rank, ranks;
    double computed = 0, all[MOST], most = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Pcontrol(0);
    uneven_compute(50000); /* does not count */
    MPI_Pcontrol(1);
    for (int i = 0; i < 5; i++) {
        computed += uneven_compute(4000);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Allgather(&computed, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, MPI_COMM_WORLD);
    for (int i = 0; i < ranks; i++)
        most = all[i] > most ? all[i] : most;
    if (rank == LATE)
        computed += uneven_compute(10 * most);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Gather(&computed, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < ranks && rank == 0; i++)
        printf("computed %.3f\n", all[i]);
    MPI_Finalize();
    return 0;
}
