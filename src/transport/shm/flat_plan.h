/* SPDX-License-Identifier: BSD-3-Clause */
/* flat_plan.h - how a call goes over slot rings. */
#ifndef CCO_FLAT_PLAN_H
#define CCO_FLAT_PLAN_H

#include "transport/shm/flat.h"

/* Whether the slots of the last slot ring have room for the elements of a reduction; for others
 * shm_turns.h.  Equal on all ranks. */
bool cco_flat_fits(const cco_problem *q, const size_t *rooms, int n);

/* Plans a call that fits over the first of `n` slot rings, in order of size, whose slots have room
 * for all at once; in pieces over the last if none has, or if two ranks gain by it; over the last
 * two if sizes are not common.
 * `rooms`: bytes for which their slots have room; `crowded`: ranks take turns on a core.  Rings,
 * windows and steps are the same on all ranks. */
cco_flat cco_flat_plan(const cco_problem *q, const size_t *rooms, int n, bool crowded);

#endif
