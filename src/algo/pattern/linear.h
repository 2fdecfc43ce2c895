/* SPDX-License-Identifier: BSD-3-Clause */
/* linear.h - messages straight between those concerned, `window` peers in a round. */
#ifndef CCO_LINEAR_H
#define CCO_LINEAR_H

#include "sched/problem.h"

/* gather and gatherv: every rank sends its block to the root. */
void cco_linear_gather(cco_sched *s, const cco_problem *q, long window);

/* scatter and scatterv: the root sends every rank its block. */
void cco_linear_scatter(cco_sched *s, const cco_problem *q, long window);

/* alltoall, alltoallv and alltoallw: with distances 1 to p-1, to the rank after and from the rank
 * before. */
void cco_linear_exchange(cco_sched *s, const cco_problem *q, long window);

#endif
