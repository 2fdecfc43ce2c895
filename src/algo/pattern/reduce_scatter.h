/* SPDX-License-Identifier: BSD-3-Clause */
/* reduce_scatter.h - reduce_scatter and reduce_scatter_block.
 *
 * In place, the send side covers the receive buffer; so the result is written last. */
#ifndef CCO_PATTERN_REDUCE_SCATTER_H
#define CCO_PATTERN_REDUCE_SCATTER_H

#include "sched/problem.h"

/* Every rank sends every block straight to its owner, one distance a round.  Any operation. */
void cco_pairwise_reduce_scatter(cco_sched *s, const cco_problem *q);

/* A partial sum of every block goes round and ends at its owner.  Commutative operations. */
void cco_ring_reduce_scatter(cco_sched *s, const cco_problem *q);

/* Recursive halving, farthest first, over the hypercube of cube.h.  Commutative operations. */
void cco_halving_reduce_scatter(cco_sched *s, const cco_problem *q);

#endif
