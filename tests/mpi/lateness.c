/* SPDX-License-Identifier: BSD-3-Clause */
/* lateness.c - allreduces of 8 bytes for which ranks come late, and how long ranks wait in them, by
 * stamps of the clock that the kernel gives to all of them.
 *
 *     lateness CALLS PATTERN:MICROSECONDS...
 *
 * one: the last rank is late; rotating: each in turn; random: each by up to twice as much.  For
 * each word rank 0 prints a line: the word, which is also the name of the communicator; the mean
 * over the ranks of the time in calls, and of what passed of it before the last rank came; the mean
 * time of its own calls without the longest of 200, in which something else may have run. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int rank, size;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

/* By the number of the call, alike in each run. */
static double late_by(const char *pattern, double us, int call)
{
    if (strncmp(pattern, "one", 3) == 0)
        return rank == size - 1 ? us : 0;
    if (strncmp(pattern, "rotating", 8) == 0)
        return rank == call % size ? us : 0;
    unsigned x = (unsigned)call * 2654435761u + (unsigned)rank * 40503u + 12345u;
    x = (x ^ x >> 15) * 2246822519u;
    return 2 * us * (double)(x >> 8) / (double)(1u << 24);
}

static int shorter(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

static double mean_of_most(double *times, int count)
{
    const int left = count - count / 200;
    double sum = 0;
    qsort(times, (size_t)count, sizeof *times, shorter);
    for (int i = 0; i < left; i++)
        sum += times[i];
    return left > 0 ? sum / left : 0;
}

static void measure(const char *word, int calls, double *came, double *went, double *last)
{
    MPI_Comm comm;
    const double us = atof(strchr(word, ':') + 1);
    double in = 1, out, sums[2] = {0, 0}, all[2];
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_name(comm, word);
    MPI_Barrier(comm); /* before the first call of a communicator, the library sets it up */
    for (int i = 0; i < calls; i++) {
        const double late = late_by(word, us, i), begin = now();
        while (late > 0 && now() - begin < late)
            ;
        came[i] = now();
        MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, comm);
        went[i] = now();
    }
    MPI_Allreduce(came, last, calls, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    for (int i = 0; i < calls; i++) {
        const double time = went[i] - came[i], wait = last[i] - came[i];
        went[i] = time;
        sums[0] += time;
        sums[1] += wait < time ? wait : time;
    }
    MPI_Reduce(sums, all, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s %.3f %.3f %.6f\n", word, all[0] / size, all[1] / size,
               mean_of_most(went, calls));
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int calls = argc > 1 ? atoi(argv[1]) : 0;
    double *stamps = malloc(3 * sizeof *stamps * (size_t)(calls + 1));
    if (stamps != NULL) /* no pages are given out while calls are timed */
        memset(stamps, 1, 3 * sizeof *stamps * (size_t)(calls + 1));
    for (int i = 2; stamps != NULL && i < argc; i++)
        if (strchr(argv[i], ':') != NULL)
            measure(argv[i], calls, stamps, stamps + calls, stamps + 2 * calls);
    free(stamps);
    MPI_Finalize();
    return 0;
}
