/* SPDX-License-Identifier: BSD-3-Clause */
/* engine_task.h - tasks of an engine that are more than one call of an operation that every
 * transport has. */
#ifndef CCO_ENGINE_TASK_H
#define CCO_ENGINE_TASK_H

#include "sched/engine_parts.h"

static inline cco_data cco_engine_data(const cco_binding *b, const place *p)
{
    const void *layout = (const char *)b + p->layout;
    return (cco_data){b->base[p->base] + p->at, p->count, layout};
}

/* Reduces many operands, or by the operation that the task names; its data are counted in bytes. */
int cco_engine_reduce(cco_engine *e, const task *t, cco_data from, cco_data to);

/* TASK_COMBINE where the operation has no kernel: with the copy that was left out. */
int cco_engine_combine_any(cco_engine *e, const task *t);

/* A one-sided step. */
int cco_engine_start_remote(cco_engine *e, const task *t, cco_data data);

#endif
