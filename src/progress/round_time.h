/* SPDX-License-Identifier: BSD-3-Clause */
/* round_time.h - when the round that an operation is in is due: as long after its start as it took
 * the last times.  Programs do the same again and again, and who knows when need not look all the
 * time. */
#ifndef CCO_ROUND_TIME_H
#define CCO_ROUND_TIME_H

#include "plan/plan.h"

typedef struct cco_round_time {
    long opened, polled; /* ns of CLOCK_MONOTONIC: the round's start, the last look at it */
} cco_round_time;

/* Its schedule starts. */
void cco_round_time_start(cco_round_time *r, cco_plan *plan);

/* A look found the engine in round `before`, and left it in another, or in the same. */
void cco_round_time_poll(cco_round_time *r, cco_plan *plan, int before);

/* What is expected of a round the next time, `*takes`, 0 if nothing is, after one that was over at
 * some time between the last look and now; all in ns from its start. */
void cco_round_time_learn(long *round_ns, long polled, long now);

/* When the open round ends, ns of CLOCK_MONOTONIC; 0 if nobody knows. */
long cco_round_time_expected(const cco_round_time *r, const cco_plan *plan);

#endif
