/* SPDX-License-Identifier: BSD-3-Clause */
/* exchange.c - how far apart the cores are at this moment: what a cache line takes from the first
 * rank to the last one and back, by two.  Virtual machines are moved between cores that share a
 * cache and cores that do not, within seconds. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"
#include "pause.h"

enum { ROUNDS = 300, TRIES = 4, LINE = 128, YIELD = 1 << 14, SETS = 32 /* of 1024 cores */ };

struct bench_exchange {
    MPI_Win window;
    char *memory; /* of rank 0: a line of its own, and one of the last rank */
    uint64_t round;
    cpu_set_t allowed[SETS]; /* the kernel refuses a set that is smaller than its own */
};

void bench_exchange_open(struct bench_world *w)
{
    MPI_Aint bytes;
    int unit;
    if (w->hosts > 1 || w->size < 2 || w->cores < 2)
        return;
    struct bench_exchange *lines = calloc(1, sizeof *lines);
    if (lines == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    void *mine;
    MPI_Win_allocate_shared(w->rank == 0 ? 4 * LINE : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine,
                            &lines->window);
    MPI_Win_shared_query(lines->window, 0, &bytes, &unit, &lines->memory);
    lines->memory += LINE - (uintptr_t)lines->memory % LINE;
    if (w->rank == 0)
        memset(lines->memory, 0, (size_t)2 * LINE);
    sched_getaffinity(0, sizeof lines->allowed, lines->allowed);
    w->exchange = lines;
    MPI_Barrier(MPI_COMM_WORLD);
}

void bench_exchange_close(struct bench_world *w)
{
    if (w->exchange != NULL)
        MPI_Win_free(&w->exchange->window);
    free(w->exchange);
    w->exchange = NULL;
}

/* Ranks that share cores are sure to be on two of them meanwhile. */
static void keep_to(const struct bench_exchange *lines, int which)
{
    const size_t bytes = sizeof lines->allowed;
    cpu_set_t one[SETS];
    size_t core = 0;
    while (core < 8 * bytes && (!CPU_ISSET_S(core, bytes, lines->allowed) || which-- > 0))
        core++;
    CPU_ZERO_S(bytes, one);
    CPU_SET_S(core, bytes, one);
    sched_setaffinity(0, bytes, one);
}

/* Writes our line and waits for the other's. */
static void exchange(struct bench_exchange *lines, int me)
{
    uint64_t *mine = (uint64_t *)(void *)(lines->memory + me * LINE);
    const uint64_t *theirs = (const uint64_t *)(void *)(lines->memory + (1 - me) * LINE);
    const uint64_t round = ++lines->round;
    __atomic_store_n(mine, round, __ATOMIC_RELEASE);
    for (unsigned spins = 1; __atomic_load_n(theirs, __ATOMIC_ACQUIRE) < round; spins++) {
        bench_pause_look();
        if (spins % YIELD == 0)
            sched_yield();
    }
}

static double least_exchange(struct bench_exchange *lines, int me)
{
    double least = 0;
    for (int i = 0; i < TRIES; i++) {
        exchange(lines, me);
        const double start = bench_now();
        for (int k = 0; k < ROUNDS; k++)
            exchange(lines, me);
        const double us = 1e6 * (bench_now() - start) / ROUNDS;
        least = i == 0 || us < least ? us : least;
    }
    return least;
}

double bench_exchange_us(struct bench_world *w)
{
    struct bench_exchange *lines = w->exchange;
    const struct timespec moment = {.tv_nsec = 500 * 1000};
    double us = 0;
    if (lines == NULL)
        return 0;
    bench_barrier(w);
    if (w->rank != 0 && w->rank != w->size - 1) {
        nanosleep(&moment, NULL);
    } else {
        if (w->oversubscribed)
            keep_to(lines, w->rank != 0);
        us = least_exchange(lines, w->rank != 0);
        if (w->oversubscribed)
            sched_setaffinity(0, sizeof lines->allowed, lines->allowed);
    }
    bench_barrier(w);
    return us;
}
