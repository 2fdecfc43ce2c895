/* SPDX-License-Identifier: BSD-3-Clause */
/* measure.c - interleaved samples of all implementations on one problem. */
#include "bench.h"

#include <stdint.h>

enum { MAX_BATCH = 2000, FEWEST = 5 };

static void call(const struct bench_problem *q, const struct bench_series *s,
                 const struct bench_options *o, int k)
{
    const int root = o->rotate ? k % q->size : 0, slot = k % q->slots;
    if (o->buffers == BENCH_WRITTEN)
        bench_problem_write(q, root, slot);
    bench_call(o->begun ? &bench_begins : &bench_cresta, q, s->comm, root, slot);
}

static void one_call(const struct bench_problem *q, struct bench_series *s,
                     const struct bench_options *o)
{
    call(q, s, o, s->next++);
}

/* The implementation before may have left the buffers in another core's cache, as one copy by the
 * kernel does: a call that is not timed gives every implementation the caches that its own calls
 * leave. */
static void warm_up(const struct bench_problem *q, const struct bench_series *s,
                    const struct bench_options *o)
{
    if (o->buffers != BENCH_COLD)
        call(q, s, o, s->next);
}

/* A batch of calls one after the other: microseconds a call on this rank. */
static double back_to_back(const struct bench_problem *q, struct bench_series *s,
                           const struct bench_world *w, const struct bench_options *o)
{
    warm_up(q, s, o);
    bench_barrier(w);
    const double start = bench_now();
    for (int i = 0; i < s->batch; i++)
        one_call(q, s, o);
    return 1e6 * (bench_now() - start) / s->batch;
}

/* How late a rank is in this round: 0 to 1 of the skew, at random (splitmix64) but the same for
 * every implementation and in every job. */
static double lateness(int rank, int round)
{
    uint64_t x = ((uint64_t)(unsigned)rank << 32 | (unsigned)round) + 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (double)((x ^ x >> 31) >> 11) / (double)(UINT64_C(1) << 53);
}

static double last_lateness(const struct bench_world *w, int round)
{
    double last = 0;
    for (int rank = 0; rank < w->size; rank++)
        last = lateness(rank, round) > last ? lateness(rank, round) : last;
    return last;
}

/* One call that all ranks start at an agreed time, or up to the skew later: microseconds from the
 * last rank's start until this rank is through. */
static double synchronised(const struct bench_problem *q, struct bench_series *s,
                           const struct bench_world *w, const struct bench_options *o, int round,
                           int *late)
{
    warm_up(q, s, o);
    const double start = bench_agree_start(w), skew = 1e-6 * o->skew_us;
    const double mine = skew > 0 ? skew * lateness(w->rank, round) : 0;
    const double last = skew > 0 ? skew * last_lateness(w, round) : 0;
    *late = bench_wait_until(w, start + mine);
    one_call(q, s, o);
    return 1e6 * (bench_now() - w->offset - start - last);
}

/* So many calls that a sample lasts long enough for the clock and for the start of the ranks not
 * to matter. */
static void choose_batch(const struct bench_problem *q, struct bench_series *s,
                         const struct bench_world *w, const struct bench_options *o)
{
    s->batch = 1;
    if (o->timing == BENCH_SYNCHRONISED)
        return;
    for (;;) {
        double least = 0;
        for (int i = 0; i < 3; i++) {
            double us = back_to_back(q, s, w, o);
            bench_max(w, &us, 1, MPI_DOUBLE);
            if (i == 0 || us < least)
                least = us;
            if (us * s->batch > 100 * o->batch_us) /* slow enough: do not look again */
                break;
        }
        if (least * s->batch >= o->batch_us || s->batch == MAX_BATCH)
            return;
        const double want = 1.1 * o->batch_us / (least > 0.01 ? least : 0.01);
        const int next = want > 10.0 * s->batch ? 10 * s->batch : (int)want + 1;
        s->batch = next > s->batch ? (next < MAX_BATCH ? next : MAX_BATCH) : s->batch + 1;
    }
}

/* Every implementation once, the first one moving on from round to round. Returns whether some
 * rank here was late. */
static int one_round(const struct bench_problem *q, struct bench_series *series, int n,
                     const struct bench_world *w, const struct bench_options *o, int round)
{
    int any = 0;
    for (int k = 0; k < n; k++) {
        struct bench_series *s = &series[(round + k) % n];
        int late = 0;
        s->us[round] = o->timing == BENCH_SYNCHRONISED ? synchronised(q, s, w, o, round, &late)
                                                       : back_to_back(q, s, w, o);
        any |= late;
    }
    return any;
}

static void slowest_rank(struct bench_series *series, int n, int taken, const struct bench_world *w)
{
    for (int k = 0; k < n; k++)
        bench_max(w, series[k].us, taken, MPI_DOUBLE);
}

struct bench_result bench_measure(const struct bench_problem *q, struct bench_series *series, int n,
                                  struct bench_world *w, const struct bench_options *o,
                                  double deadline)
{
    struct bench_result r = {0, 0};
    if (o->timing == BENCH_SYNCHRONISED)
        bench_sync_clocks(w);
    for (int k = 0; k < n; k++)
        choose_batch(q, &series[k], w, o);
    while (r.taken < o->samples) {
        int flags[3]; /* late somewhere; time is up, for this and for all (rank 0's watch) */
        flags[0] = one_round(q, series, n, w, o, r.kept);
        flags[1] = w->rank == 0 && bench_now() > deadline;
        flags[2] = w->rank == 0 && bench_now() > o->end;
        bench_max(w, flags, 3, MPI_INT);
        r.taken++;
        if (flags[0] && w->lead < 5e-3)
            w->lead *= 1.2;
        else if (!flags[0] && w->lead > 30e-6)
            w->lead *= 0.99;
        if (!flags[0] ||
            w->oversubscribed) /* with too few cores somebody is always late: keep it */
            r.kept++;
        if (flags[2] || (flags[1] && r.taken >= FEWEST))
            break;
    }
    slowest_rank(series, n, r.kept, w);
    return r;
}
