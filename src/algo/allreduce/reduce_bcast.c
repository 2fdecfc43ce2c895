/* SPDX-License-Identifier: BSD-3-Clause */
/* allreduce "reduce_bcast": reduce to rank 0, then broadcast, over the same binomial tree.
 *
 *   messages <= log2 p + 1 on a rank, 2(p-1) in all   bytes sent 2n(p-1) in all
 *   scratch n   operation: any */
#include "algo/algo.h"

#include "algo/pattern/tree.h"

static void allreduce_reduce_bcast_build(cco_sched *s, const cco_problem *q)
{
    const cco_span out = cco_whole(&q->out);
    cco_tree_reduce(s, q, 0, cco_whole(&q->in), out, cco_scratch(s, out.n));
    cco_tree_bcast(s, q, 0, out);
}

const cco_algo cco_allreduce_reduce_bcast = {
    .name = "reduce_bcast",
    .doc = "reduce to rank 0, then broadcast, over the same binomial tree",
    .build = allreduce_reduce_bcast_build,
};
