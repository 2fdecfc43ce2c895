/* SPDX-License-Identifier: BSD-3-Clause */
/* timeline.h - when a rank was in collectives: a fixed number of time bins.
 *
 * A run that is longer than the bins hold makes them twice as long: neighbors are added up.  So
 * a profile of any length takes the same memory, which is allocated when the first one begins. */
#ifndef CCO_TIMELINE_H
#define CCO_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "call/collectives.h"

enum {
    CCO_BINS = 512,
    CCO_FIRST_SHIFT = 20, /* a bin has 2^20 ticks at first: some 0.4 ms on x86-64 */
};

/* What a bin counts, in ticks: the time in each collective, and besides the time in calls in which
 * the wait was measured, and that wait. */
enum { CCO_BIN_SAMPLED = CCO_COLLECTIVES, CCO_BIN_WAITED, CCO_BIN_PARTS };

typedef struct cco_timeline {
    uint64_t start; /* ticks */
    unsigned shift; /* a bin has 2^shift ticks */
    bool shared;    /* threads of the program may add at the same time: one after the other, */
    bool taken;     /* for some instructions each */
    uint64_t (*bins)[CCO_BIN_PARTS]; /* NULL: no memory, nothing is added */
} cco_timeline;

/* That of this process; recorded into while cco_profile_active. */
extern cco_timeline cco_timeline_here;

/* From now on; `shared` as above. */
void cco_timeline_begin(cco_timeline *t, uint64_t now, bool shared);

/* Makes bins longer until they hold the moment `now`. */
void cco_timeline_reach(cco_timeline *t, uint64_t now);

/* The time from `start` to `end`, in as many bins as it takes. */
void cco_timeline_spread(cco_timeline *t, int part, uint64_t start, uint64_t end);

/* Waits until this thread has taken it. */
void cco_timeline_take(cco_timeline *t);

/* Adds the time from `start` to `end` to a part of the bins: most calls lie in one. */
static inline void cco_timeline_add(cco_timeline *t, int part, uint64_t start, uint64_t end)
{
    const bool shared = t->shared;
    if (shared && __atomic_exchange_n(&t->taken, true, __ATOMIC_ACQUIRE))
        cco_timeline_take(t);
    const uint64_t first = (start - t->start) >> t->shift, last = (end - t->start) >> t->shift;
    if (first == last && last < CCO_BINS && t->bins != NULL)
        t->bins[last][part] += end - start;
    else
        cco_timeline_spread(t, part, start, end);
    if (shared)
        __atomic_store_n(&t->taken, false, __ATOMIC_RELEASE);
}

#endif
