/* SPDX-License-Identifier: BSD-3-Clause */
/* populations.c - spikes of several populations of an artificial network, exchanged in three
 * ways, in one job, in turn.  (examples/spikes has one population, and lists of ranks.)
 *
 *     mpirun -n RANKS example-populations [STEPS [IMPL]]
 *
 * Populations of cells lie on the ranks in turn.  Each cell counts up by a drive of its own and by
 * the weights of the spikes that arrive, and fires at a threshold: all numbers are integers, so
 * that the order of spikes is of no matter, and every rank can check the result by computing the
 * whole network by itself.  A spike is 16 bytes: its time and its cell.  Each step is as long as
 * the shortest delay of a connection, so that spikes are exchanged once in a step:
 *
 *   allgather  for each population, all spikes to all ranks
 *   alltoallv  spikes only to ranks that have a cell which they reach; their numbers go before
 *   recording  the allgathers, recorded once and replayed
 *
 * Prints microseconds for the exchange of a step, on the rank that takes longest: medians, with the
 * 10th and the 90th percentile, for 100 to 10,000 connections of each cell.
 *
 * The problem is that of M. Hines, S. Kumar, F. Schuermann: Comparison of neuronal spike exchange
 * methods on a Blue Gene/P supercomputer, 2011. */
#include <crestacoll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POPULATIONS = 8, EACH = 8, THRESHOLD = 1000, WAYS = 3 }; /* EACH: cells on a rank */

typedef struct spike {
    double time;
    int64_t cell;
} spike;

/* What a rank has to say of one population. */
typedef struct block {
    int64_t count;
    int64_t unused; /* whole spikes */
    spike spikes[EACH];
} block;

static int rank, size, cells, connections;
static MPI_Comm comm;
static block mine[POPULATIONS], *all;
static spike *sent, *received;
static int *counts, *displs, *from_counts, *from_displs;
static char *reaches; /* of each cell, of each rank: whether it has a cell that this one reaches */
static CRESTA_Recording recording;

static uint32_t mixed(uint32_t x)
{
    x = (x ^ x >> 15) * 739982445u;
    x = (x ^ x >> 12) * 695872825u;
    return x ^ x >> 15;
}

/* Cells are counted population by population, and there rank by rank. */
static int owner(int cell)
{
    return cell / EACH % size;
}

static int population(int cell)
{
    return cell / (EACH * size);
}

/* The cell at the other end of a connection. */
static int source(int cell, int connection)
{
    return (int)(mixed((uint32_t)cell * 16384u + (uint32_t)connection) % (uint32_t)cells);
}

static uint32_t drive(int cell)
{
    return 20 + mixed((uint32_t)cell) % 180;
}

/* One step of cells: what fired in the step before arrives, and some fire. */
static void advance(uint32_t *charge, const char *fired, char *fires, int only_mine)
{
    for (int cell = 0; cell < cells; cell++) {
        uint32_t arrived = 0;
        if (only_mine && owner(cell) != rank)
            continue;
        for (int i = 0; i < connections; i++)
            arrived += (uint32_t)fired[source(cell, i)];
        charge[cell] += drive(cell) + 100 * arrived / (uint32_t)connections;
        fires[cell] = charge[cell] >= THRESHOLD;
        charge[cell] -= fires[cell] ? THRESHOLD : 0;
    }
}

static void fill(const char *fires, int step)
{
    for (int p = 0; p < POPULATIONS; p++)
        mine[p].count = 0;
    for (int cell = 0; cell < cells; cell++)
        if (owner(cell) == rank && fires[cell]) {
            block *b = &mine[population(cell)];
            b->spikes[b->count++] = (spike){step, cell};
        }
}

static void gather_all(void)
{
    for (int p = 0; p < POPULATIONS; p++)
        CRESTA_Allgather(&mine[p], sizeof *mine, MPI_BYTE, all + p * size, sizeof *all, MPI_BYTE,
                         comm);
}

static void replay(void)
{
    CRESTA_Replay_start(recording);
    CRESTA_Replay_end(recording);
}

static void send_to_targets(void)
{
    int at = 0;
    for (int to = 0; to < size; to++) {
        displs[to] = at;
        for (int p = 0; p < POPULATIONS; p++)
            for (int i = 0; i < mine[p].count; i++)
                if (reaches[mine[p].spikes[i].cell * size + to])
                    sent[at++] = mine[p].spikes[i];
        counts[to] = (at - displs[to]) * (int)sizeof(spike);
        displs[to] *= (int)sizeof(spike);
    }
    CRESTA_Alltoall(counts, 1, MPI_INT, from_counts, 1, MPI_INT, comm);
    for (int from = 0, next = 0; from < size; next += from_counts[from++])
        from_displs[from] = next;
    CRESTA_Alltoallv(sent, counts, displs, MPI_BYTE, received, from_counts, from_displs, MPI_BYTE,
                     comm);
}

static void take(char *fired, int by_targets)
{
    memset(fired, 0, (size_t)cells);
    for (int i = 0; !by_targets && i < POPULATIONS * size; i++)
        for (int k = 0; k < all[i].count; k++)
            fired[all[i].spikes[k].cell] = 1;
    for (int from = 0; by_targets && from < size; from++)
        for (int k = 0; k < from_counts[from] / (int)sizeof(spike); k++)
            fired[received[from_displs[from] / (int)sizeof(spike) + k].cell] = 1;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void find_targets(void)
{
    memset(reaches, 0, (size_t)cells * (size_t)size);
    for (int cell = 0; cell < cells; cell++)
        for (int i = 0; i < connections; i++)
            reaches[source(cell, i) * size + owner(cell)] = 1;
}

/* Microseconds of an exchange on the slowest rank. */
static double time_of(void (*exchange)(void))
{
    double us, longest;
    PMPI_Barrier(comm);
    const double start = MPI_Wtime();
    exchange();
    us = 1e6 * (MPI_Wtime() - start);
    PMPI_Allreduce(&us, &longest, 1, MPI_DOUBLE, MPI_MAX, comm);
    return longest;
}

/* The network of this rank beside the whole one: cells that have fired have to be the same. */
static long run(int steps)
{
    static void (*const ways[WAYS])(void) = {gather_all, send_to_targets, replay};
    static const char *const names[WAYS] = {"allgather", "alltoallv", "recording"};
    char *fires = calloc((size_t)cells, 1), *fired = calloc((size_t)cells, 1);
    char *known = calloc((size_t)cells, 1), *next = calloc((size_t)cells, 1);
    uint32_t *charge = calloc((size_t)cells, sizeof *charge);
    uint32_t *whole = calloc((size_t)cells, sizeof *whole);
    double *us[WAYS];
    long wrong = 0, spikes = 0;
    for (int w = 0; w < WAYS; w++)
        us[w] = calloc((size_t)steps, sizeof(double));
    find_targets();
    for (int step = 0; step < steps; step++) {
        advance(charge, fired, fires, 1);
        advance(whole, known, next, 0);
        memcpy(known, next, (size_t)cells);
        fill(fires, step);
        for (int k = 0; k < WAYS; k++) {
            const int w = (k + step) % WAYS;
            us[w][step] = time_of(ways[w]);
            take(fired, w == 1);
            for (int cell = 0; cell < cells; cell++) /* alltoallv brings what is needed here */
                wrong += fired[cell] != (known[cell] && (w != 1 || reaches[cell * size + rank]));
        }
        for (int cell = 0; cell < cells; cell++)
            spikes += known[cell];
    }
    for (int w = 0; w < WAYS; w++) {
        qsort(us[w], (size_t)steps, sizeof(double), compare);
        if (rank == 0)
            printf("%8d  %-9s  %9.2f (%.2f to %.2f)\n", connections, names[w], us[w][steps / 2],
                   us[w][steps / 10], us[w][steps * 9 / 10]);
        free(us[w]);
    }
    if (rank == 0)
        printf("          %ld spikes in %d steps, %ld wrong\n", spikes, steps, wrong);
    free(fires), free(fired), free(known), free(next), free(charge), free(whole);
    return wrong;
}

int main(int argc, char **argv)
{
    const int steps = argc > 1 && atoi(argv[1]) > 0 ? atoi(argv[1]) : 200;
    char rules[64];
    long wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    snprintf(rules, sizeof rules, "*=%s", argc > 2 ? argv[2] : "p2p");
    CRESTA_Set_impl(comm, rules);
    cells = POPULATIONS * EACH * size;
    all = calloc((size_t)(POPULATIONS * size), sizeof *all);
    sent = calloc((size_t)(POPULATIONS * EACH * size), sizeof *sent);
    received = calloc((size_t)cells, sizeof *received);
    counts = calloc(4 * (size_t)size, sizeof *counts);
    displs = counts + size, from_counts = counts + 2 * size, from_displs = counts + 3 * size;
    reaches = calloc((size_t)cells * (size_t)size, 1);
    CRESTA_Record_begin(comm);
    gather_all();
    CRESTA_Record_end(&recording);
    if (rank == 0)
        printf("%d cells on %d ranks, exchange of a step in us\nconnections  way\n", cells, size);
    for (connections = 100; connections <= 10000; connections *= 10)
        wrong += run(steps);
    CRESTA_Recording_free(&recording);
    free(all), free(sent), free(received), free(counts), free(reaches);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return wrong != 0;
}
