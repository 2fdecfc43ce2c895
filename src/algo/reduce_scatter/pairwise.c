/* SPDX-License-Identifier: BSD-3-Clause */
/* reduce_scatter, reduce_scatter_block "pairwise": in round k, send to the rank k after its block.
 *
 *   messages p-1   bytes sent per rank all blocks but one   scratch <= 4 blocks   operation: any
 *
 * For large blocks, and for operations that do not commute.
 * R. Thakur, R. Rabenseifner, W. Gropp: Optimization of collective communication operations in
 * MPICH, Int. J. High Perform. Comput. Appl. 19 (2005). */
#include "algo/algo.h"

#include "algo/pattern/reduce_scatter.h"

static void reduce_scatter_pairwise_build(cco_sched *s, const cco_problem *q)
{
    cco_pairwise_reduce_scatter(s, q);
}

const cco_algo cco_reduce_scatter_pairwise = {
    .name = "pairwise",
    .doc = "in round k, send to the rank k after its block",
    .build = reduce_scatter_pairwise_build,
};
