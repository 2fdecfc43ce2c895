/* SPDX-License-Identifier: BSD-3-Clause */
/* ring.h - blocks that go round, from each rank to the next. */
#ifndef CCO_RING_H
#define CCO_RING_H

#include "sched/problem.h"

/* allgather and allgatherv. */
void cco_ring_allgather(cco_sched *s, const cco_problem *q);

#endif
