/* SPDX-License-Identifier: BSD-3-Clause */
/* round_time.h - when the round that an operation is in is expected to end: as long after its start
 * as it took the last times.  Programs repeat their steps, so the progress thread need not poll all
 * the time. */
#ifndef CCO_ROUND_TIME_H
#define CCO_ROUND_TIME_H

#include "plan/plan.h"

typedef struct cco_round_time {
    long opened, polled; /* ns of CLOCK_MONOTONIC: when the round started, the last poll */
} cco_round_time;

/* Its schedule starts. */
void cco_round_time_start(cco_round_time *r, cco_plan *plan);

/* A poll found the engine in round `before`, and left it in this one or a later one. */
void cco_round_time_poll(cco_round_time *r, cco_plan *plan, int before);

/* Updates the expected duration of a round, `*round_ns` (0: unknown), after one that ended between
 * the last poll and now.  All in ns from its start. */
void cco_round_time_learn(long *round_ns, long polled, long now);

/* True if a round has been open for so small a part of what it took the last times, `round_ns` (0:
 * unknown), that its messages may not be under way yet. */
bool cco_round_time_begins(long round_ns, long open_ns);

/* cco_round_time_begins for the open round, as of the last poll. */
bool cco_round_time_early(const cco_round_time *r, const cco_plan *plan);

/* When the open round is expected to end, ns of CLOCK_MONOTONIC; 0 if that is unknown. */
long cco_round_time_expected(const cco_round_time *r, const cco_plan *plan);

#endif
