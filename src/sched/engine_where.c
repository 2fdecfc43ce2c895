/* SPDX-License-Identifier: BSD-3-Clause */
/* engine_where.c - see engine_where.h. */
#include "sched/engine_where.h"

#include "core/whereabouts.h"
#include "sched/engine_parts.h"

void cco_engine_tell_where(const cco_engine *e)
{
    cco_where_step step = {e->at, e->rounds, CCO_STAY_NOBODY, 0};
    for (const task *t = e->opened; t->kind < TASK_WAIT; t++)
        if (t->kind == TASK_RECV || (t->kind == TASK_SEND && step.peer == CCO_STAY_NOBODY))
            step.peer = t->peer;
    cco_where_wait(&step);
}
