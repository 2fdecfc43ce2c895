/* SPDX-License-Identifier: BSD-3-Clause */
/* rhythm.h - when the round that a flight is in is due: as long after its start as it took the last
 * times.  Programs do the same again and again, and who knows when need not look all the time. */
#ifndef CCO_RHYTHM_H
#define CCO_RHYTHM_H

#include "model/plan.h"

typedef struct cco_rhythm {
    long opened, looked; /* ns of CLOCK_MONOTONIC: the round's start, the last look at it */
} cco_rhythm;

/* Its schedule starts. */
void cco_rhythm_start(cco_rhythm *r, cco_plan *plan);

/* A look found the engine in round `before`, and left it in another, or in the same. */
void cco_rhythm_look(cco_rhythm *r, cco_plan *plan, int before);

/* What is expected of a round the next time, `*takes`, 0 if nothing is, after one that was over at
 * some time between the last look and now; all in ns from its start. */
void cco_rhythm_learn(long *takes, long looked, long now);

/* When the open round ends, ns of CLOCK_MONOTONIC; 0 if nobody knows. */
long cco_rhythm_due(const cco_rhythm *r, const cco_plan *plan);

#endif
