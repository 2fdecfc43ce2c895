/* SPDX-License-Identifier: BSD-3-Clause */
/* round_time.c - see round_time.h. */
#include "progress/round_time.h"

#include <stdlib.h>

#include "base/clock.h"

enum {
    LATER = 4,
    SOONER = 64, /* parts by which an expectation comes nearer to what is found */
    EARLY = 8 /* the part of a round in which its messages get under way: of whatever a program does
                 meanwhile, nearly all still fits into the rest */
};

void cco_round_time_start(cco_round_time *r, cco_plan *plan)
{
    r->opened = r->polled = cco_ns(CLOCK_MONOTONIC);
    if (plan->round_ns == NULL) /* without it nothing is known */
        plan->round_ns = calloc((size_t)cco_engine_rounds(plan->engine) + 1,
                                sizeof *plan->round_ns);
}

/* If it was not over when it was due, it is due later the next time; if it was, it may have been
 * over before. */
void cco_round_time_learn(long *round_ns, long polled, long now)
{
    if (*round_ns == 0 || now < *round_ns)
        *round_ns = now;
    else if (polled > *round_ns)
        *round_ns += (now - *round_ns) / LATER;
    else
        *round_ns -= *round_ns / SOONER;
}

void cco_round_time_poll(cco_round_time *r, cco_plan *plan, int before)
{
    const long now = cco_ns(CLOCK_MONOTONIC);
    if (cco_engine_at(plan->engine) != before) {
        if (plan->round_ns != NULL)
            cco_round_time_learn(&plan->round_ns[before], r->polled - r->opened, now - r->opened);
        r->opened = now;
    }
    r->polled = now;
}

bool cco_round_time_begins(long round_ns, long open_ns)
{
    return open_ns < round_ns / EARLY;
}

bool cco_round_time_early(const cco_round_time *r, const cco_plan *plan)
{
    return plan->round_ns != NULL &&
           cco_round_time_begins(plan->round_ns[cco_engine_at(plan->engine)],
                                 r->polled - r->opened);
}

long cco_round_time_expected(const cco_round_time *r, const cco_plan *plan)
{
    const long round_ns = plan->round_ns != NULL ? plan->round_ns[cco_engine_at(plan->engine)] : 0;
    return round_ns > 0 ? r->opened + round_ns : 0;
}
