/* SPDX-License-Identifier: BSD-3-Clause */
/* timeline.c - see timeline.h. */
#include "profile/timeline.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

cco_timeline cco_timeline_here;

void cco_timeline_begin(cco_timeline *t, uint64_t now, bool shared)
{
    t->start = now;
    t->shift = CCO_FIRST_SHIFT;
    t->shared = shared;
    t->taken = false;
    t->bins = t->bins != NULL ? memset(t->bins, 0, CCO_BINS * sizeof *t->bins)
                              : calloc(CCO_BINS, sizeof *t->bins);
}

/* Bins become twice as long. */
static void timeline_fold(cco_timeline *t)
{
    for (int i = 0; i < CCO_BINS; i++)
        for (int part = 0; part < CCO_BIN_PARTS; part++) {
            const int k = 2 * i;
            t->bins[i][part] = k < CCO_BINS ? t->bins[k][part] + t->bins[k + 1][part] : 0;
        }
    t->shift++;
}

void cco_timeline_reach(cco_timeline *t, uint64_t now)
{
    while (t->bins != NULL && now > t->start && (now - t->start) >> t->shift >= CCO_BINS)
        timeline_fold(t);
}

/* A time stamp counter that is not quite the same on two cores may run backwards. */
void cco_timeline_spread(cco_timeline *t, int part, uint64_t start, uint64_t end)
{
    if (start < t->start)
        start = t->start;
    if (end <= start || t->bins == NULL)
        return;
    cco_timeline_reach(t, end);
    for (uint64_t at = start; at < end;) {
        const uint64_t bin = (at - t->start) >> t->shift;
        const uint64_t next = t->start + ((bin + 1) << t->shift);
        const uint64_t until = next < end ? next : end;
        t->bins[bin][part] += until - at;
        at = until;
    }
}

void cco_timeline_take(cco_timeline *t)
{
    while (__atomic_exchange_n(&t->taken, true, __ATOMIC_ACQUIRE))
        sched_yield();
}
