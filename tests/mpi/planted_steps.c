/* SPDX-License-Identifier: BSD-3-Clause */
/* planted_steps.c - time steps of a known length, for explorations whose answer is known
 * (tools/explore_trials.py): in each the clock goes forward by so many microseconds, as if it had
 * computed, and ranks transpose.
 *
 *     planted_steps STEPS US SCATTER SEED [early MARK SHARE | busy MARK]
 *
 * SCATTER is the standard deviation of the logarithm of a step.  early: where there is a file MARK
 * only this share of the steps is made; a run without it leaves one.  busy: while there is a file
 * MARK, every third step or so is interrupted, for as long as a step on average. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* From late_calls.c, which is preloaded. */
__attribute__((weak)) void late_compute(double us);

static double uniform(void)
{
    return drand48() * 0.999999 + 5e-7;
}

static double normal(void)
{
    return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

static double microseconds(double us, double scatter, int interrupted)
{
    double took = us * exp(scatter * normal());
    if (interrupted && uniform() < 0.3)
        took -= us * log(uniform());
    return took;
}

static void mark(const char *path)
{
    FILE *file = fopen(path, "w");
    if (file != NULL)
        fclose(file);
}

int main(int argc, char **argv)
{
    enum { N = 16, MOST = 16 };
    static int send[N * MOST], received[N * MOST];
    int me = 0, ranks = 0, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc < 5 || ranks > MOST)
        MPI_Abort(MPI_COMM_WORLD, 2);
    int steps = atoi(argv[1]);
    const double us = atof(argv[2]), scatter = atof(argv[3]);
    const int ends = argc > 7 && strcmp(argv[5], "early") == 0;
    const int disturbed = argc > 6 && strcmp(argv[5], "busy") == 0;
    int early = ends && me == 0 && access(argv[6], F_OK) == 0;
    srand48(100000L * atoi(argv[4]) + 100 * (long)getpid() + me);
    MPI_Bcast(&early, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (early)
        steps = (int)(atof(argv[7]) * steps);
    for (int step = 0; step < steps; step++) {
        const int interrupted = disturbed && access(argv[6], F_OK) == 0;
        if (late_compute != NULL)
            late_compute(microseconds(us, scatter, interrupted));
        for (int i = 0; i < N * ranks; i++)
            send[i] = step + 1000 * me + i;
        MPI_Alltoall(send, N, MPI_INT, received, N, MPI_INT, MPI_COMM_WORLD);
        for (int i = 0; i < N * ranks; i++)
            wrong += received[i] != step + 1000 * (i / N) + me * N + i % N;
    }
    if (ends && me == 0 && !early)
        mark(argv[6]);
    MPI_Finalize();
    return wrong != 0;
}
