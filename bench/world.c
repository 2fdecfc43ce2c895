/* SPDX-License-Identifier: BSD-3-Clause */
/* world.c - the ranks of the benchmark, how they meet, and a clock they share.
 *
 * The benchmark's own meetings are non-blocking calls with a test loop that gives the core away
 * when there are more ranks than cores: a blocking barrier of MPICH takes milliseconds there, and
 * would be most of what is measured. */
#define _GNU_SOURCE
#include "bench.h"

#include <math.h>
#include <sched.h>
#include <string.h>
#include <time.h>

/* The kernel refuses a set of cores that is smaller than its own. */
enum { PINGS = 50, SETS = 32 /* of 1024 cores */ };

double bench_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int allowed_cores(void)
{
    cpu_set_t set[SETS];
    return sched_getaffinity(0, sizeof set, set) == 0 ? CPU_COUNT_S(sizeof set, set) : 1;
}

/* Cores of this host: every rank may be bound to its own, so take the union of what the ranks may
 * use. */
static int host_cores(MPI_Comm host)
{
    cpu_set_t mine[SETS], all[SETS];
    memset(mine, 0, sizeof mine);
    if (sched_getaffinity(0, sizeof mine, mine) != 0)
        memset(mine, 0, sizeof mine); /* go on: the call below is collective */
    MPI_Allreduce(mine, all, sizeof mine, MPI_BYTE, MPI_BOR, host);
    const int cores = CPU_COUNT_S(sizeof all, all);
    return cores > 0 ? cores : 1;
}

void bench_world_open(struct bench_world *w)
{
    MPI_Comm host;
    int host_size, host_rank;
    *w = (struct bench_world){0};
    MPI_Comm_rank(MPI_COMM_WORLD, &w->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &w->size);
    MPI_Comm_dup(MPI_COMM_WORLD, &w->control);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    MPI_Comm_size(host, &host_size);
    MPI_Comm_rank(host, &host_rank);
    const int cores = host_cores(host);
    MPI_Comm_free(&host);

    int most[3] = {-cores, host_size > cores, allowed_cores()}, leaders = host_rank == 0;
    MPI_Allreduce(MPI_IN_PLACE, most, 3, MPI_INT, MPI_MAX, w->control);
    MPI_Allreduce(MPI_IN_PLACE, &leaders, 1, MPI_INT, MPI_SUM, w->control);
    w->cores = -most[0];
    w->cores_each = most[2];
    w->oversubscribed = most[1];
    w->hosts = leaders;
    w->lead = w->oversubscribed ? 200e-6 : 30e-6;
}

void bench_world_close(struct bench_world *w)
{
    MPI_Comm_free(&w->control);
}

void bench_finish(const struct bench_world *w, MPI_Request *request)
{
    for (int done = 0; !done;) {
        MPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (!done && w->oversubscribed)
            sched_yield();
    }
}

void bench_barrier(const struct bench_world *w)
{
    MPI_Request request;
    MPI_Ibarrier(w->control, &request);
    bench_finish(w, &request);
}

void bench_max(const struct bench_world *w, void *values, int n, MPI_Datatype type)
{
    MPI_Request request;
    MPI_Iallreduce(MPI_IN_PLACE, values, n, type, MPI_MAX, w->control, &request);
    bench_finish(w, &request);
}

static void pass(const struct bench_world *w, int peer, int sending, double *value)
{
    MPI_Request request;
    if (sending)
        MPI_Isend(value, 1, MPI_DOUBLE, peer, 1, w->control, &request);
    else
        MPI_Irecv(value, 1, MPI_DOUBLE, peer, 1, w->control, &request);
    bench_finish(w, &request);
}

/* Rank 0 asks `peer` for its time; the fastest answer is the one to believe. Returns peer's clock
 * minus ours. */
static double ask_offset(const struct bench_world *w, int peer)
{
    double best = HUGE_VAL, offset = 0, theirs = 0;
    for (int i = 0; i < PINGS; i++) {
        const double before = bench_now();
        pass(w, peer, 1, &theirs);
        pass(w, peer, 0, &theirs);
        const double after = bench_now();
        if (after - before < best) {
            best = after - before;
            offset = theirs - (before + after) / 2;
        }
    }
    return fabs(offset) < best / 2 ? 0 : offset; /* cannot be told from zero */
}

void bench_sync_clocks(struct bench_world *w)
{
    double value;
    if (w->rank == 0) {
        for (int peer = 1; peer < w->size; peer++) {
            value = ask_offset(w, peer);
            pass(w, peer, 1, &value);
        }
        return;
    }
    for (int i = 0; i < PINGS; i++) {
        pass(w, 0, 0, &value);
        value = bench_now();
        pass(w, 0, 1, &value);
    }
    pass(w, 0, 0, &w->offset);
}

/* The next start, in rank 0's time. */
double bench_agree_start(const struct bench_world *w)
{
    MPI_Request request;
    double start = bench_now() + w->lead;
    MPI_Ibcast(&start, 1, MPI_DOUBLE, 0, w->control, &request);
    bench_finish(w, &request);
    return start;
}

int bench_wait_until(const struct bench_world *w, double start)
{
    const double mine = start + w->offset;
    if (bench_now() > mine)
        return 1;
    while (bench_now() < mine)
        if (w->oversubscribed)
            sched_yield();
    return 0;
}
