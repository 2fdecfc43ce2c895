/* SPDX-License-Identifier: BSD-3-Clause */
/* engine_task.h - tasks of an engine that are more than one call of an operation that every
 * transport has. */
#ifndef CCO_ENGINE_TASK_H
#define CCO_ENGINE_TASK_H

#include "sched/engine_parts.h"

/* Of many operands, or with the operation that the task names; its data are counted in bytes. */
int cco_engine_reduce(cco_engine *e, const task *t, cco_data from, cco_data to);

/* A one-sided step. */
int cco_engine_start_remote(cco_engine *e, const task *t, cco_data data);

#endif
