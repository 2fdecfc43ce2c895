/* SPDX-License-Identifier: BSD-3-Clause */
/* reduce_scatter, reduce_scatter_block "ring": a partial sum of every block goes round to its
 * owner.
 *
 *   messages p-1   bytes sent per rank all blocks but one   scratch 2 blocks
 *   operation: commutative
 *
 * For large blocks: neighbors only.
 * P. Patarasuk, X. Yuan: Bandwidth optimal all-reduce algorithms for clusters of workstations,
 * J. Parallel Distrib. Comput. 69 (2009). */
#include "algo/algo.h"

#include "algo/pattern/reduce_scatter.h"

static const char *reduce_scatter_ring_refuses(const cco_problem *q)
{
    return q->commutative ? NULL : "needs a commutative operation";
}

static void reduce_scatter_ring_build(cco_sched *s, const cco_problem *q)
{
    cco_ring_reduce_scatter(s, q);
}

const cco_algo cco_reduce_scatter_ring = {
    .name = "ring",
    .doc = "a partial sum of every block goes round to its owner",
    .refuses = reduce_scatter_ring_refuses,
    .build = reduce_scatter_ring_build,
};
