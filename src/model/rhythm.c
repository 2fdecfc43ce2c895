/* SPDX-License-Identifier: BSD-3-Clause */
/* rhythm.c - see rhythm.h. */
#include "model/rhythm.h"

#include <stdlib.h>

#include "core/clock.h"

enum { LATER = 4, SOONER = 64 }; /* parts by which an expectation comes nearer to what is found */

void cco_rhythm_start(cco_rhythm *r, cco_plan *plan)
{
    r->opened = r->looked = cco_ns(CLOCK_MONOTONIC);
    if (plan->takes == NULL) /* without it nothing is known */
        plan->takes = calloc((size_t)cco_engine_rounds(plan->engine) + 1, sizeof *plan->takes);
}

/* If it was not over when it was due, it is due later the next time; if it was, it may have been
 * over before. */
void cco_rhythm_learn(long *takes, long looked, long now)
{
    if (*takes == 0 || now < *takes)
        *takes = now;
    else if (looked > *takes)
        *takes += (now - *takes) / LATER;
    else
        *takes -= *takes / SOONER;
}

void cco_rhythm_look(cco_rhythm *r, cco_plan *plan, int before)
{
    const long now = cco_ns(CLOCK_MONOTONIC);
    if (cco_engine_at(plan->engine) != before) {
        if (plan->takes != NULL)
            cco_rhythm_learn(&plan->takes[before], r->looked - r->opened, now - r->opened);
        r->opened = now;
    }
    r->looked = now;
}

long cco_rhythm_due(const cco_rhythm *r, const cco_plan *plan)
{
    const long takes = plan->takes != NULL ? plan->takes[cco_engine_at(plan->engine)] : 0;
    return takes > 0 ? r->opened + takes : 0;
}
