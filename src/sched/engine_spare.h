/* SPDX-License-Identifier: BSD-3-Clause */
/* engine_spare.h - copies that an engine need not make.
 *
 * An operand is copied to where the result will be, and later a reduction takes it from there as
 * its right operand.  A kernel takes it from its own place as well (reduce/kernels/loops.h). */
#ifndef CCO_ENGINE_SPARE_H
#define CCO_ENGINE_SPARE_H

#include "sched/engine_parts.h"

/* Leaves out small copies of that kind, and makes all TASK_REDUCE to TASK_COMBINE.  `tasks` are all
 * of a schedule, before anybody looks at where they are. */
void cco_engine_spare_copies(task *tasks);

#endif
