/* SPDX-License-Identifier: BSD-3-Clause */
/* sums.c - crestacoll-sums: what sums cost whose bits are reproducible.
 *
 *     mpirun -n 2 crestacoll-sums [SAMPLES]
 *
 * For numbers of the normal kind and of all magnitudes: CRESTA_Repro_sum of what each rank has,
 * beside a loop in C and an allreduce of one number; and an allreduce of as many numbers by the
 * algorithm "exact", beside the MPI's own.  Samples are taken in turn; the slowest rank counts. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <crestacoll.h>

#include "quantile.h"

enum { SERIES = 4, SAMPLES = 50, SIZES = 4, MOST = 8 << 20 };

static const size_t sizes[SIZES] = {8 << 10, 64 << 10, 512 << 10, MOST};
static double *x, *sums, *times[SERIES];
static MPI_Comm exact;

/* Not to be made another order of additions by the compiler. */
__attribute__((noinline)) static double loop(const double *numbers, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += numbers[i];
    return sum;
}

static void fill(size_t n, int spread)
{
    for (size_t i = 0; i < n; i++) {
        const double u = (double)rand() / RAND_MAX - 0.5;
        x[i] = ldexp(u, spread > 0 ? rand() % spread - spread / 2 : 0);
    }
}

static void run(int series, size_t n)
{
    double sum;
    switch (series) {
    case 0:
        sum = loop(x, n);
        PMPI_Allreduce(&sum, sums, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        break;
    case 1:
        CRESTA_Repro_sum(x, (MPI_Count)n, sums, MPI_COMM_WORLD);
        break;
    case 2:
        PMPI_Allreduce(x, sums, (int)n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        break;
    default:
        CRESTA_Allreduce(x, sums, (int)n, MPI_DOUBLE, MPI_SUM, exact);
        break;
    }
}

/* Microseconds of the slowest rank. */
static double sample(int series, size_t n)
{
    PMPI_Barrier(MPI_COMM_WORLD);
    const double start = PMPI_Wtime();
    run(series, n);
    double took = (PMPI_Wtime() - start) * 1e6;
    PMPI_Allreduce(MPI_IN_PLACE, &took, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return took;
}

static void say(const char *kind, size_t bytes, int samples, int plain, const char *name)
{
    const double before = bench_quantile(times[plain], samples, 0.5);
    const double now = bench_quantile(times[plain + 1], samples, 0.5);
    printf("%8zu  %-9s  %-16s  %10.2f  %10.2f  %10.2f  %10.2f  %5.2f\n", bytes, kind, name, before,
           now, bench_quantile(times[plain + 1], samples, 0.1),
           bench_quantile(times[plain + 1], samples, 0.9), now / before);
}

static void measure(size_t bytes, int spread, int samples, int rank)
{
    const size_t n = bytes / sizeof *x;
    const char *kind = spread > 0 ? "spread" : "normal";
    fill(n, spread);
    for (int i = -3; i < samples; i++) /* the first ones do not count */
        for (int series = 0; series < SERIES; series++) {
            const double took = sample(series, n);
            if (i >= 0)
                times[series][i] = took;
        }
    if (rank != 0)
        return;
    say(kind, bytes, samples, 0, "CRESTA_Repro_sum");
    say(kind, bytes, samples, 2, "allreduce");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    const int samples = argc > 1 ? atoi(argv[1]) : SAMPLES;
    int rank, ranks;
    if (samples < 1) {
        fprintf(stderr, "crestacoll-sums: SAMPLES is a number of at least 1, not '%s'\n", argv[1]);
        return 2;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_dup(MPI_COMM_WORLD, &exact);
    CRESTA_Set_impl(exact, "allreduce=shm:exact");
    x = malloc(MOST);
    sums = malloc(MOST);
    for (int series = 0; series < SERIES; series++)
        times[series] = calloc((size_t)samples, sizeof **times);
    srand(1 + (unsigned)rank);
    if (rank == 0)
        printf("# %d ranks; microseconds, medians of %d; a loop and an allreduce, or an allreduce"
               " by the MPI, are plain\n#  bytes  numbers    call                   plain"
               "       exact         p10         p90  ratio\n",
               ranks, samples);
    for (int k = 0; k < SIZES * 2; k++)
        measure(sizes[k / 2], k % 2 * 600, samples, rank);
    for (int series = 0; series < SERIES; series++)
        free(times[series]);
    free(x);
    free(sums);
    MPI_Comm_free(&exact);
    MPI_Finalize();
    return 0;
}
