/* SPDX-License-Identifier: BSD-3-Clause */
/* shmem.c - crestacoll-shmem: how long a small broadcast takes until its last receiver has it,
 * by OpenSHMEM and by MPI, in one program.
 *
 *     mpirun -n 2 crestacoll-shmem [BYTES,... [CALLS]]
 *
 * The root waits for some microseconds in each turn, so that all others wait in the call; a time
 * goes from its start of the call until the last receiver returns, by the clock of the node.  Ways
 * take turns.  It knows OpenSHMEM only from <shmem.h>, and so measures others as well:
 *
 *     oshcc -O2 -std=gnu11 bench/shmem.c bench/quantile.c -o others && oshrun -n 2 ./others */
#include <mpi.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "quantile.h"

enum { WAYS_MOST = 4, SIZES = 16, LARGEST = 1 << 16, SETTLE = 3 /* us */, SKIP = 100 };

static int me, pes, calls = 2000;
static int64_t *source, *dest;
static long *syncs; /* two, in turn */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static void by_mpi(int words, int turn)
{
    (void)turn;
    MPI_Bcast(me == 0 ? source : dest, words * 8, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void by_active_set(int words, int turn)
{
    shmem_broadcast64(dest, source, (size_t)words, 0, 0, 0, pes,
                      syncs + turn % 2 * SHMEM_BCAST_SYNC_SIZE);
}

#ifdef CRESTACOLL_SHMEM_H
static void by_team(int words, int turn)
{
    (void)turn;
    shmem_broadcast(SHMEM_TEAM_WORLD, dest, source, (size_t)words, 0);
}

static MPI_Comm ours; /* where model shm runs */

static void by_collective(int words, int turn)
{
    (void)turn;
    CRESTA_Bcast(me == 0 ? source : dest, words * 8, MPI_BYTE, 0, ours);
}
#endif

static const struct way {
    const char *name;
    void (*run)(int words, int turn);
} ways[] = {
    {"MPI_Bcast", by_mpi},
    {"shmem_broadcast64", by_active_set},
#ifdef CRESTACOLL_SHMEM_H
    {"shmem_broadcast", by_team},
    {"CRESTA_Bcast=shm", by_collective},
#endif
};

enum { WAYS = sizeof ways / sizeof ways[0] };

static void set_up(void)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &pes);
    source = shmem_malloc(LARGEST);
    dest = shmem_malloc(LARGEST);
    syncs = shmem_malloc(2 * SHMEM_BCAST_SYNC_SIZE * sizeof *syncs);
    if (source == NULL || dest == NULL || syncs == NULL)
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (int i = 0; i < 2 * SHMEM_BCAST_SYNC_SIZE; i++)
        syncs[i] = SHMEM_SYNC_VALUE;
    memset(source, 1, LARGEST);
#ifdef CRESTACOLL_SHMEM_H
    MPI_Comm_dup(MPI_COMM_WORLD, &ours);
    CRESTA_Set_impl(ours, "*=shm");
#endif
    shmem_barrier_all();
}

/* One call: when the root starts it, when others return. */
static double once(const struct way *way, int words, int turn)
{
    source[0] = turn;
    MPI_Barrier(MPI_COMM_WORLD);
    double start = now();
    if (me == 0)
        for (const double first = start; start < first + SETTLE;)
            start = now();
    way->run(words, turn);
    if (me != 0) {
        start = now();
        if (dest[0] != turn)
            MPI_Abort(MPI_COMM_WORLD, 3); /* before it was there */
    }
    return start;
}

static void measure(int words)
{
    static double latest[WAYS_MOST];
    double *mine[WAYS], *last = malloc((size_t)calls * sizeof *last);
    for (int w = 0; w < WAYS; w++)
        mine[w] = malloc((size_t)calls * sizeof *mine[w]);
    for (int i = -SKIP; i < calls; i++)
        for (int w = 0; w < WAYS; w++) {
            const double at = once(&ways[w], words, i + SKIP);
            if (i >= 0)
                mine[w][i] = at;
        }
    for (int w = 0; w < WAYS; w++) {
        double *own = me == 0 ? calloc((size_t)calls, sizeof *own) : mine[w];
        MPI_Reduce(own, last, calls, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        for (int i = 0; i < calls && me == 0; i++)
            last[i] -= mine[w][i];
        if (me == 0) {
            latest[w] = bench_quantile(last, calls, 0.5);
            printf("%6d bytes  %-18s %8.3f us (p10 %.3f, p90 %.3f)  %.2f of MPI_Bcast\n", words * 8,
                   ways[w].name, latest[w], bench_quantile(last, calls, 0.1),
                   bench_quantile(last, calls, 0.9), latest[w] / latest[0]);
            free(own);
        }
        free(mine[w]);
    }
    free(last);
}

int main(int argc, char **argv)
{
    const char *sizes = argc > 1 ? argv[1] : "8,56,256,1024,2048,8192";
    int status = 0;
    calls = argc > 2 ? atoi(argv[2]) : calls;
    MPI_Init(&argc, &argv);
    shmem_init();
    set_up();
    for (const char *at = sizes; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        const int words = atoi(at) / 8;
        if (pes < 2 || words < 1 || words > LARGEST / 8 || calls < 1) {
            if (me == 0)
                fprintf(stderr,
                        "crestacoll-shmem: expected two ranks or more, sizes of 8 to %d bytes and "
                        "1 call or more, not %d, %s and %d\n",
                        LARGEST, pes, at, calls);
            status = 2;
            break;
        }
        measure(words);
    }
    fflush(stdout);
    shmem_free(syncs);
    shmem_free(dest);
    shmem_free(source);
    shmem_finalize();
    MPI_Finalize();
    return status;
}
