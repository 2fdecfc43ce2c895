/* SPDX-License-Identifier: BSD-3-Clause */
/* overhead.c - crestacoll-overhead: what interposing costs a call that ends at the MPI itself.
 *
 *   [LD_PRELOAD=libcrestacoll-preload.so] crestacoll-overhead [--thread single|multiple]
 * [--batches N] [--calls N] [--communicators N] [--profile N]
 *
 * A plain MPI program: PMPI_Allreduce is the call without crestacoll, MPI_Allreduce goes through
 * the preloaded library, where there is one. 8 bytes on MPI_COMM_SELF, where the plain call is
 * cheapest; batches of both alternate in one process, so that clock speed and neighbours act on
 * both. Prints one JSON line. `crestacoll overhead` runs it. With --communicators N it makes
 * communicators instead, N times, on any number of ranks (overhead_comms.c); with --profile N it
 * switches a profile on and off (overhead_profile.c). */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "overhead.h"
#include "quantile.h"

static double in = 1, out;

/* Not inlined and not merged: callgrind counts the instructions between their first and last
 * line. */
__attribute__((noinline)) void overhead_plain(int calls)
{
    for (int i = 0; i < calls; i++)
        PMPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
}

__attribute__((noinline)) void overhead_interposed(int calls)
{
    for (int i = 0; i < calls; i++)
        MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
}

static double nanoseconds(void (*run)(int), int calls)
{
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    run(calls);
    clock_gettime(CLOCK_MONOTONIC, &b);
    return (1e9 * (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec)) / calls;
}

void overhead_print(const char *name, double *values, int n)
{
    printf("\"%s\": {\"median\": %.3f, \"p10\": %.3f, \"p90\": %.3f}", name,
           bench_quantile(values, n, 0.5), bench_quantile(values, n, 0.1),
           bench_quantile(values, n, 0.9));
}

static void measure(int batches, int calls, int level)
{
    double *v = calloc(3 * (size_t)batches, sizeof *v), *plain = v, *interposed = v + batches,
           *difference = v + 2 * batches;
    if (!v)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < batches; i++) {
        const int first = i % 2; /* either goes first every other time */
        if (first)
            plain[i] = nanoseconds(overhead_plain, calls);
        interposed[i] = nanoseconds(overhead_interposed, calls);
        if (!first)
            plain[i] = nanoseconds(overhead_plain, calls);
        difference[i] = interposed[i] - plain[i];
    }
    printf("{\"thread\": \"%s\", \"batches\": %d, \"calls\": %d, ",
           level == MPI_THREAD_MULTIPLE ? "multiple" : "single", batches, calls);
    overhead_print("plain_ns", plain, batches);
    printf(", ");
    overhead_print("interposed_ns", interposed, batches);
    printf(", ");
    overhead_print("difference_ns", difference, batches);
    printf("}\n");
    free(v);
}

int main(int argc, char **argv)
{
    int batches = 301, calls = 2000, communicators = 0, turns = 0, wanted = MPI_THREAD_SINGLE;
    int level;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (!strcmp(argv[i], "--thread"))
            wanted = strcmp(argv[i + 1], "multiple") ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE;
        else if (!strcmp(argv[i], "--batches"))
            batches = atoi(argv[i + 1]);
        else if (!strcmp(argv[i], "--calls"))
            calls = atoi(argv[i + 1]);
        else if (!strcmp(argv[i], "--communicators"))
            communicators = atoi(argv[i + 1]);
        else if (!strcmp(argv[i], "--profile"))
            turns = atoi(argv[i + 1]);
    }
    MPI_Init_thread(&argc, &argv, wanted, &level);
    for (int i = 0; i < 3; i++) { /* bind the symbols, set up the communicator */
        PMPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
        MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
    }
    if (communicators > 0)
        overhead_comms(communicators);
    else if (turns > 0)
        overhead_profile(turns, calls > 0 ? calls : 1);
    else
        measure(batches > 0 ? batches : 1, calls > 0 ? calls : 1, wanted);
    MPI_Finalize();
    return 0;
}
