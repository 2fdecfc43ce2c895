/* SPDX-License-Identifier: BSD-3-Clause */
/* spikes.c - an artificial network of neurons, as in the Blue Brain figures of the multisend paper:
 * cells are spread over the ranks; a cell that fires tells the ranks where its targets are.
 *
 *     mpirun -n 4 spikes [CELLS of a rank, 256] [CONNECTIONS of a cell, 100] [STEPS, 200]
 *
 * The same network runs five times, its spikes going by MPI_Allgather, MPI_Alltoallv,
 * CRESTA_Exchange, a many-to-many and a multicast.  All values are integers, so all runs must end
 * with the same potentials and the same number of spikes: rank 0 prints a checksum of each, and the
 * exit code says whether they are equal.  Times are of the exchange alone, of the slowest rank.
 *
 * After M. Hines, S. Kumar, F. Schuermann: Comparison of neuronal spike exchange methods on a Blue
 * Gene/P supercomputer, Front. Comput. Neurosci. 5 (2011). */
#include <cresta_multisend.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THRESHOLD = 10000, DRIVE = 400, WEIGHT = 40 };
enum { ALLGATHER, ALLTOALLV, EXCHANGE, MANYTOMANY, MULTICAST, METHODS };

static int rank, size, cells, connections;
static int *potential, *fired; /* fired: their number, and which */
static int *heard;             /* the same of each rank, one after the other */
static unsigned char *needs;   /* of each cell of ours and each rank: it has targets there */
static int *ranks;             /* those of which this one hears: all */
static int *counts, *places;
static CRESTA_Multisend cast, many;
static int *outgoing;     /* of a many-to-many: for each rank as `fired`, */
static int *starts, *all; /* where each begins, and how long it is */

/* SplitMix64, after G. Steele et al., 2014: what is drawn depends on what it is for alone. */
static uint64_t draw(uint64_t of)
{
    uint64_t z = of * 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* The k-th target of a cell, a number in the whole network. */
static int target(int cell, int k)
{
    return (int)(draw((uint64_t)cell * 100003u + (uint64_t)k) % (uint64_t)(cells * size));
}

static void find_needs(void)
{
    for (int c = 0; c < cells; c++)
        for (int k = 0; k < connections; k++)
            needs[(size_t)c * (size_t)size + (size_t)(target(rank * cells + c, k) / cells)] = 1;
}

static void step_cells(void)
{
    fired[0] = 0;
    for (int c = 0; c < cells; c++) {
        potential[c] += DRIVE + (rank * cells + c) % 97;
        if (potential[c] < THRESHOLD)
            continue;
        potential[c] = 0;
        fired[++fired[0]] = rank * cells + c;
    }
}

/* What a cell somewhere gives to its targets on this rank. */
static void receive(int cell)
{
    for (int k = 0; k < connections; k++) {
        const int to = target(cell, k);
        if (to / cells == rank)
            potential[to % cells] += k % 2 == 0 ? WEIGHT : -WEIGHT / 2;
    }
}

static void receive_all(const int list[], int n)
{
    for (int i = 0; i < n; i++)
        receive(list[i]);
}

/* The spikes that each rank needs, as `fired`. */
static void sort_spikes(void)
{
    for (int to = 0; to < size; to++) {
        int *list = outgoing + starts[to];
        list[0] = 0;
        for (int i = 1; i <= fired[0]; i++)
            if (needs[(size_t)(fired[i] % cells) * (size_t)size + (size_t)to])
                list[++list[0]] = fired[i];
    }
}

static void by_alltoallv(void)
{
    int *give = malloc(4 * (size_t)size * sizeof *give), *get = give + size;
    int *from = get + size, *at = from + size;
    for (int to = 0; to < size; to++) {
        give[to] = outgoing[starts[to]];
        from[to] = starts[to] + 1;
    }
    MPI_Alltoall(give, 1, MPI_INT, get, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++) {
        at[i] = i * (cells + 1) + 1;
        heard[i * (cells + 1)] = get[i];
    }
    MPI_Alltoallv(outgoing, give, from, MPI_INT, heard, get, at, MPI_INT, MPI_COMM_WORLD);
    free(give);
}

static void by_exchange(void)
{
    int *give = malloc(6 * (size_t)size * sizeof *give), *from = give + size, *to = from + size;
    int *sources = to + size, *lengths = sources + size, *at = lengths + size;
    int n = 0, messages, elements;
    for (int i = 0; i < size; i++) {
        heard[i * (cells + 1)] = 0;
        if (outgoing[starts[i]] == 0)
            continue;
        give[n] = outgoing[starts[i]];
        from[n] = starts[i] + 1;
        to[n++] = i;
    }
    CRESTA_Exchange(outgoing, give, from, MPI_INT, n, to, &messages, &elements, MPI_COMM_WORLD);
    int *came = malloc(((size_t)elements + 1) * sizeof *came);
    CRESTA_Exchange_take(came, sources, lengths, at, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < messages; i++) {
        heard[sources[i] * (cells + 1)] = lengths[i];
        memcpy(heard + sources[i] * (cells + 1) + 1, came + at[i],
               (size_t)lengths[i] * sizeof *came);
    }
    free(came);
    free(give);
}

static void exchange(int method)
{
    if (method != ALLGATHER && method != MULTICAST)
        sort_spikes();
    if (method == ALLGATHER)
        MPI_Allgather(fired, cells + 1, MPI_INT, heard, cells + 1, MPI_INT, MPI_COMM_WORLD);
    else if (method == ALLTOALLV)
        by_alltoallv();
    else if (method == EXCHANGE)
        by_exchange();
    else {
        const CRESTA_Multisend multisend = method == MULTICAST ? cast : many;
        CRESTA_Multisend_start(multisend);
        CRESTA_Multisend_wait(multisend);
    }
}

/* All steps by one method; returns a checksum, and the seconds of the exchange. */
static long long simulate(int method, int steps, double *seconds, long long *spikes)
{
    long long sums[2] = {0, 0};
    *seconds = 0;
    for (int c = 0; c < cells; c++)
        potential[c] = (int)(draw((uint64_t)(rank * cells + c) + 7) % THRESHOLD);
    for (int step = 0; step < steps; step++) {
        step_cells();
        sums[1] += fired[0];
        const double start = MPI_Wtime();
        exchange(method);
        *seconds += MPI_Wtime() - start;
        for (int i = 0; i < size; i++)
            receive_all(heard + i * (cells + 1) + 1, heard[i * (cells + 1)]);
    }
    for (int c = 0; c < cells; c++)
        sums[0] += (long long)(rank * cells + c + 1) * potential[c] % 1000003;
    MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    *spikes = sums[1];
    return sums[0];
}

static void *some(size_t n, size_t each)
{
    void *memory = calloc(n + 1, each);
    if (memory == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    return memory;
}

static void set_up(void)
{
    const size_t p = (size_t)size, n = (size_t)cells + 1;
    potential = some(n, sizeof(int));
    fired = some(n, sizeof(int));
    heard = some(p * n, sizeof(int));
    outgoing = some(p * n, sizeof(int));
    needs = some(p * n, 1);
    ranks = some(p, sizeof(int));
    counts = some(p, sizeof(int));
    places = some(p, sizeof(int));
    starts = some(p, sizeof(int));
    all = some(p, sizeof(int));
    for (int i = 0; i < size; i++) {
        ranks[i] = i;
        counts[i] = all[i] = cells + 1;
        places[i] = starts[i] = i * (cells + 1);
    }
    find_needs();
    CRESTA_Multicast_init(fired, cells + 1, size, ranks, heard, counts, places, size, ranks,
                          MPI_INT, MPI_COMM_WORLD, &cast);
    CRESTA_Manytomany_init(outgoing, all, starts, size, ranks, heard, counts, places, size, ranks,
                           MPI_INT, MPI_COMM_WORLD, &many);
}

static void clean_up(void)
{
    void *const memory[] = {potential, fired,  heard,  outgoing, needs,
                            ranks,     counts, places, starts,   all};
    CRESTA_Multisend_free(&cast);
    CRESTA_Multisend_free(&many);
    for (size_t i = 0; i < sizeof memory / sizeof memory[0]; i++)
        free(memory[i]);
}

int main(int argc, char **argv)
{
    static const char *const names[METHODS] = {"MPI_Allgather", "MPI_Alltoallv", "CRESTA_Exchange",
                                               "many-to-many", "multicast"};
    long long first = 0, spikes = 0;
    int unlike = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    cells = argc > 1 && atoi(argv[1]) > 0 ? atoi(argv[1]) : 256;
    connections = argc > 2 && atoi(argv[2]) > 0 ? atoi(argv[2]) : 100;
    const int steps = argc > 3 && atoi(argv[3]) > 0 ? atoi(argv[3]) : 200;
    set_up();
    for (int method = 0; method < METHODS; method++) {
        double seconds;
        long long count;
        const long long sum = simulate(method, steps, &seconds, &count);
        if (method == 0)
            first = sum, spikes = count;
        unlike += sum != first || count != spikes;
        if (rank == 0)
            printf("%-16s %9.2f us a step, %lld spikes, checksum %lld\n", names[method],
                   1e6 * seconds / steps, count, sum);
    }
    if (rank == 0)
        printf("%d of %d methods unlike the first\n", unlike, METHODS);
    clean_up();
    MPI_Finalize();
    return unlike != 0 || spikes == 0;
}
