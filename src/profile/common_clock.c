/* SPDX-License-Identifier: BSD-3-Clause */
/* common_clock.c - see common_clock.h.
 *
 * The first rank of each clock speaks for it.  These leaders compare their clocks along the tree of
 * service.h, so that few errors add up, and tell all ranks what they saw. */
#include "profile/common_clock.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/clock.h"
#include "config/config.h"
#include "base/log.h"
#include "base/node_key.h"
#include "mpi/service.h"
#include "wait/wait.h"

enum { CLOCK_TAG = 5, ROUNDS = 32 };

/* Rates of two quartz clocks come apart by some 1e-7 when they become warmer; a line through both
 * ends of a run is wrong in its middle by a quarter of that. */
static const double wander = 2.5e-8;

/* Nanoseconds: of a moment on a line, and of what is printed. */
static const double rounding = 3;

static struct {
    bool known;
    int rank, size, count, number; /* of clocks, and that of this rank */
    int *leaders;                  /* of each clock */
    int *clock_of;                 /* each rank; NULL if there is one clock */
    cco_clock_pair first;          /* of a leader and the one above it */
    int64_t seen;                  /* when rank 0 began the latest comparison */
    cco_clock_line line, *all;     /* this rank's, and of all clocks */
    int64_t planted_from;          /* CRESTA_DEBUG=clock */
} here;

static int64_t kernel_clock(void)
{
    return cco_ns(CLOCK_MONOTONIC_RAW);
}

int64_t cco_clock_here(void)
{
    const cco_debug *debug = &cco_configured.debug;
    const int64_t now = kernel_clock();
    if (debug->clock_us == 0 && debug->clock_ppm == 0)
        return now;
    const double since = (double)(now - here.planted_from);
    return now + here.number * (int64_t)(1e3 * debug->clock_us + 1e-6 * debug->clock_ppm * since);
}

cco_clock_line cco_clock_through(const cco_clock_pair *first, const cco_clock_pair *last)
{
    const int64_t mine = last->mine - first->mine, theirs = last->theirs - first->theirs;
    const int64_t error = first->error > last->error ? first->error : last->error;
    const int64_t both = first->error + last->error + (int64_t)rounding, least = mine - both;
    const double drift = mine > 0 ? (double)(theirs - mine) / (double)mine : 0;
    const double loose = (double)both / (double)(least > 1 ? least : 1);
    return (cco_clock_line){.at = first->mine,
                            .to = first->theirs,
                            .drift = drift,
                            .loose = loose,
                            .error = (double)error * (1 + drift) * (1 + loose) +
                                     wander * (double)(mine > 0 ? mine : 0) + rounding};
}

cco_clock_line cco_clock_after(const cco_clock_line *first, const cco_clock_line *then)
{
    return (cco_clock_line){.at = first->at,
                            .to = cco_clock_on(then, first->to),
                            .drift = first->drift + then->drift + first->drift * then->drift,
                            .loose = first->loose + then->loose + first->loose * then->loose,
                            .error = first->error * (1 + then->drift) + then->error};
}

cco_clock_ahead cco_clock_ahead_at(const cco_clock_line *line, int64_t to)
{
    const double rate = 1 + line->drift, since = (double)(to - line->to);
    return (cco_clock_ahead){.by = (double)(line->at - line->to) - line->drift / rate * since,
                             .error = line->error / (rate < 1 ? rate : 1),
                             .faster = 1 / rate - 1,
                             .faster_error = line->loose / rate};
}

/* What ranks with the same clock have in common, and no others; 0 if that is not known. */
static uint64_t clock_key(void)
{
    const cco_debug *debug = &cco_configured.debug;
    struct stat status;
    char text[64];
    const bool planted = debug->clock_us != 0 || debug->clock_ppm != 0;
    const uint64_t machine = planted ? cco_node_key() : cco_boot_key();
    if (machine == 0 || planted || stat("/proc/self/ns/time", &status) != 0)
        return machine; /* kernels without these name spaces have one clock */
    snprintf(text, sizeof text, "time %llu", (unsigned long long)status.st_ino);
    return cco_hash(machine, text);
}

static bool common_clock_combine(MPI_Comm comm, uint64_t *words, int count, MPI_Op op)
{
    return cco_service_allreduce(MPI_IN_PLACE, words, count, MPI_UINT64_T, op, comm) == MPI_SUCCESS;
}

/* Numbers the clocks in the order of their first ranks. */
static void number_clocks(const uint64_t *keys)
{
    here.count = 0;
    for (int rank = 0; rank < here.size; rank++) {
        int k = 0;
        while (k < here.count && (keys[rank] == 0 || keys[here.leaders[k]] != keys[rank]))
            k++;
        if (k == here.count)
            here.leaders[here.count++] = rank;
        here.clock_of[rank] = k;
    }
    here.number = here.clock_of[here.rank];
}

static bool find_clocks(MPI_Comm comm, uint64_t key)
{
    uint64_t *keys = calloc((size_t)here.size, sizeof *keys);
    here.leaders = calloc((size_t)here.size, sizeof *here.leaders);
    here.clock_of = calloc((size_t)here.size, sizeof *here.clock_of);
    if (keys == NULL || here.leaders == NULL || here.clock_of == NULL)
        cco_fatal("no memory for the clocks of %d ranks", here.size);
    keys[here.rank] = key;
    const bool found = common_clock_combine(comm, keys, here.size, MPI_BOR);
    if (found)
        number_clocks(keys);
    free(keys);
    return found;
}

static void common_clock_answer(MPI_Comm comm, int peer)
{
    int64_t now = 0;
    for (int i = 0; i < ROUNDS; i++) {
        cco_transfer_from(comm, peer, CLOCK_TAG, &now, sizeof now);
        now = cco_clock_here();
        cco_transfer_to(comm, peer, CLOCK_TAG, &now, sizeof now);
    }
}

/* The quickest answer tells most: what it shows lies between sending and receiving. */
static cco_clock_pair common_clock_ask(MPI_Comm comm, int peer)
{
    cco_clock_pair best = {.error = INT64_MAX};
    for (int i = 0; i < ROUNDS; i++) {
        int64_t theirs = 0;
        const int64_t sent = cco_clock_here();
        cco_transfer_to(comm, peer, CLOCK_TAG, &theirs, sizeof theirs);
        cco_transfer_from(comm, peer, CLOCK_TAG, &theirs, sizeof theirs);
        const int64_t error = (cco_clock_here() - sent + 1) / 2;
        if (error < best.error)
            best = (cco_clock_pair){sent + error, theirs, error};
    }
    return best;
}

static cco_clock_pair common_clock_compare(MPI_Comm comm)
{
    int next[CCO_TREE_MOST], n = 0;
    cco_clock_pair pair = {0};
    if (here.leaders[here.number] == here.rank)
        n = cco_service_tree(here.number, here.count, next);
    if (n > 0 && next[0] >= 0)
        pair = common_clock_ask(comm, here.leaders[next[0]]);
    for (int i = 1; i < n; i++)
        common_clock_answer(comm, here.leaders[next[i]]);
    return pair;
}

void cco_common_clock_begin(MPI_Comm comm)
{
    if (comm == MPI_COMM_NULL || here.known)
        return;
    const uint64_t key = clock_key();
    PMPI_Comm_rank(comm, &here.rank);
    PMPI_Comm_size(comm, &here.size);
    uint64_t words[3] = {key, ~key, here.rank == 0 ? (uint64_t)kernel_clock() : 0};
    if (!common_clock_combine(comm, words, 3, MPI_MAX))
        return;
    here.planted_from = (int64_t)words[2];
    here.count = 1;
    const bool one = words[0] == ~words[1] && words[0] != 0;
    here.known = one || find_clocks(comm, key);
    if (here.known && here.count > 1) {
        here.first = common_clock_compare(comm);
        cco_service_all(true, comm);
    }
}

/* All lines from the clock of rank 0, which follow from those to the clocks above. */
static void common_clock_lines(MPI_Comm comm, cco_clock_line above)
{
    const size_t bytes = (size_t)here.count * sizeof *here.all;
    int next[CCO_TREE_MOST];
    free(here.all);
    here.all = calloc(1, bytes);
    if (here.all == NULL)
        cco_fatal("no memory for %d clocks", here.count);
    if (here.leaders[here.number] == here.rank && here.number > 0)
        here.all[here.number] = above;
    here.known = cco_service_allreduce(MPI_IN_PLACE, here.all, (int)bytes, MPI_BYTE, MPI_BOR,
                                       comm) == MPI_SUCCESS;
    for (int i = 1; here.known && i < here.count; i++) {
        cco_service_tree(i, here.count, next);
        here.all[i] = cco_clock_after(&here.all[i], &here.all[next[0]]);
    }
    here.line = here.all[here.number];
}

void cco_common_clock_compare(MPI_Comm comm)
{
    here.line = (cco_clock_line){0};
    if (!here.known || here.count == 1)
        return;
    here.seen = cco_clock_here();
    cco_service_all(true, comm);
    const cco_clock_pair last = common_clock_compare(comm);
    common_clock_lines(comm, cco_clock_through(&here.first, &last));
}

bool cco_common_clock(cco_clock_line *line, int *number)
{
    *line = here.line;
    *number = here.number;
    return here.known;
}

/* How far a clock is ahead of that of rank 0, and how much faster it runs.  No moment after the
 * comparison will do: there the error is larger. */
void cco_common_clock_put(FILE *file)
{
    fprintf(file, "[");
    for (int i = 0; here.known && i < here.count; i++) {
        const cco_clock_line *line = here.count > 1 ? &here.all[i] : &here.line;
        const cco_clock_ahead ahead = cco_clock_ahead_at(line, here.seen);
        fprintf(file,
                "%s{\"rank\": %d, \"ahead_us\": %.3f, \"error_us\": %.3f, \"drift_ppm\": %.3f,"
                " \"drift_error_ppm\": %.3f}",
                i ? ", " : "", here.count > 1 ? here.leaders[i] : 0, 1e-3 * ahead.by,
                1e-3 * ahead.error, 1e6 * ahead.faster, 1e6 * ahead.faster_error);
    }
    fprintf(file, "]");
}
