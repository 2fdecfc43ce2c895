/* SPDX-License-Identifier: BSD-3-Clause */
/* engine_where.c - see engine_where.h. */
#include "sched/engine_where.h"

#include "core/whereabouts.h"
#include "sched/engine_parts.h"

void cco_engine_tell_where(const cco_engine *e)
{
    cco_where_step step = {e->at, e->rounds, CCO_STAY_NOBODY, 0};
    const round before = e->at > 0 ? e->ends[e->at - 1] : (round){0};
    for (int i = before.messages; i < e->ends[e->at].messages; i++)
        if (!e->messages[i].sends || step.peer == CCO_STAY_NOBODY)
            step.peer = e->messages[i].peer;
    cco_where_wait(&step);
}
