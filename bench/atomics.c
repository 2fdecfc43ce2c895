/* SPDX-License-Identifier: BSD-3-Clause */
/* atomics.c - crestacoll-atomics: what small accumulates cost in a window whose ranks share memory.
 *
 *     CRESTA_ATOMICS=on crestacoll-atomics [BATCHES [CALLS]]     at least two ranks of one node
 *
 * Rank 0 accumulates at rank 1, which waits in a barrier; or all ranks do at once ("all").  Calls
 * with a flush each, in batches in turn: by the MPI (PMPI_x, on a window that PMPI_x made), by
 * crestacoll (MPI_x on its own window), and the processor's atomic operation on the same memory.
 * One JSON line for each operation, nanoseconds a call.  `crestacoll atomics` runs it. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "quantile.h"

enum { MPI_OWN, OURS, FLOOR, WAYS, MOST = 1000 };
static const char *const ways[] = {"mpi_own", "crestacoll", "floor"};

static MPI_Win windows[2]; /* the MPI's, and ours */
static int64_t *word;      /* of rank 1, in this process */
static int rank;

typedef struct operation {
    const char *name;
    void (*call)(int way);
} operation;

/* One call and its flush, by the names with or without P. */
#define EITHER(call, arguments)                                                                    \
    do {                                                                                           \
        if (way == OURS) {                                                                         \
            MPI_##call arguments;                                                                  \
            MPI_Win_flush(1, windows[way]);                                                        \
        } else {                                                                                   \
            PMPI_##call arguments;                                                                 \
            PMPI_Win_flush(1, windows[way]);                                                       \
        }                                                                                          \
    } while (0)

static int64_t old, one = 1;

static void fetch_and_op(int way)
{
    if (way == FLOOR)
        old = __atomic_fetch_add(word, one, __ATOMIC_SEQ_CST);
    else
        EITHER(Fetch_and_op, (&one, &old, MPI_INT64_T, 1, 0, MPI_SUM, windows[way]));
}

static void compare_and_swap(int way)
{
    int64_t expected = old;
    const int64_t next = old + 1;
    if (way == FLOOR) {
        __atomic_compare_exchange_n(word, &expected, next, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
        old = expected;
    } else {
        EITHER(Compare_and_swap, (&next, &expected, &old, MPI_INT64_T, 1, 0, windows[way]));
    }
}

static void accumulate(int way)
{
    if (way == FLOOR)
        __atomic_add_fetch(word, one, __ATOMIC_SEQ_CST);
    else
        EITHER(Accumulate, (&one, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, MPI_SUM, windows[way]));
}

static void get_accumulate(int way)
{
    if (way == FLOOR)
        old = __atomic_load_n(word, __ATOMIC_SEQ_CST);
    else
        EITHER(Get_accumulate, (NULL, 0, MPI_INT64_T, &old, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T,
                                MPI_NO_OP, windows[way]));
}

static const operation operations[] = {
    {"fetch_and_op", fetch_and_op},
    {"compare_and_swap", compare_and_swap},
    {"accumulate", accumulate},
    {"get_accumulate", get_accumulate},
};

/* Open MPI 4.1 crashes in MPI_Compare_and_swap on windows of MPI_Win_allocate
 * (docs/mpi-defects.md). */
static int crashes(int way, int shared, const operation *o)
{
#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION == 4
    return way == MPI_OWN && !shared && o->call == compare_and_swap;
#else
    (void)way, (void)shared, (void)o;
    return 0;
#endif
}

static double batch(const operation *o, int way, int calls)
{
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    for (int i = 0; i < calls; i++)
        o->call(way);
    clock_gettime(CLOCK_MONOTONIC, &b);
    return (1e9 * (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec)) / calls;
}

static void print(int shared, const operation *o, int all, double ns[WAYS][MOST], int n)
{
    printf("{\"window\": \"%s\", \"operation\": \"%s\", \"all\": %s",
           shared ? "allocate_shared" : "allocate", o->name, all ? "true" : "false");
    for (int way = 0; way < WAYS; way++)
        if (crashes(way, shared, o))
            printf(", \"%s\": null", ways[way]);
        else
            printf(", \"%s\": {\"median\": %.2f, \"p10\": %.2f, \"p90\": %.2f}", ways[way],
                   bench_quantile(ns[way], n, 0.5), bench_quantile(ns[way], n, 0.1),
                   bench_quantile(ns[way], n, 0.9));
    printf("}\n");
    fflush(stdout);
}

static void measure(int shared, const operation *o, int all, int batches, int calls)
{
    static double ns[WAYS][MOST];
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = -1; i < batches; i++) /* the first one warms up */
        for (int k = 0; k < WAYS; k++) {
            const int way = (k + i + 1) % WAYS; /* each goes first every third time */
            if (all)
                PMPI_Barrier(MPI_COMM_WORLD);
            if ((all || rank == 0) && !crashes(way, shared, o))
                ns[way][i < 0 ? 0 : i] = batch(o, way, calls);
        }
    PMPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        print(shared, o, all, ns, batches);
}

static void measure_window(int shared, int batches, int calls)
{
    void *base, *floor = NULL;
    MPI_Win memory;
    MPI_Aint size;
    int unit;
    (shared ? PMPI_Win_allocate_shared : PMPI_Win_allocate)(64, 8, MPI_INFO_NULL, MPI_COMM_WORLD,
                                                            &base, &windows[MPI_OWN]);
    (shared ? MPI_Win_allocate_shared : MPI_Win_allocate)(64, 8, MPI_INFO_NULL, MPI_COMM_WORLD,
                                                          &base, &windows[OURS]);
    PMPI_Win_allocate_shared(64, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &memory);
    PMPI_Win_shared_query(memory, 1, &size, &unit, &floor);
    word = floor;
    for (int i = 0; i < 2; i++)
        MPI_Win_lock_all(0, windows[i]);
    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++)
        for (int all = 0; all < 2; all++)
            measure(shared, &operations[i], all, batches, calls);
    for (int i = 0; i < 2; i++) {
        MPI_Win_unlock_all(windows[i]);
        MPI_Win_free(&windows[i]);
    }
    MPI_Win_free(&memory);
}

int main(int argc, char **argv)
{
    int ranks, batches = argc > 1 ? atoi(argv[1]) : 51, calls = argc > 2 ? atoi(argv[2]) : 1000;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks < 2 || batches < 1 || batches > MOST || calls < 1) {
        if (rank == 0)
            fprintf(stderr,
                    "crestacoll-atomics: expected two ranks or more, 1 to %d batches, and 1 call "
                    "or more, not %d, %d and %d\n",
                    MOST, ranks, batches, calls);
        MPI_Finalize();
        return 2;
    }
    for (int shared = 0; shared < 2; shared++)
        measure_window(shared, batches, calls);
    MPI_Finalize();
    return 0;
}
