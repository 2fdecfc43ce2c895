/* SPDX-License-Identifier: BSD-3-Clause */
/* scatter "binomial": a binomial tree from the root.
 *
 *   messages p-1 (or p) in all, in ceil(log2 p) steps
 *   bytes sent per rank <= n(p-1)   scratch <= np/2
 *
 * Few rounds, for small n.
 * R. Thakur, R. Rabenseifner, W. Gropp: Optimization of collective communication operations in
 * MPICH, Int. J. High Perform. Comput. Appl. 19 (2005). */
#include "algo/algo.h"

#include "algo/pattern/tree_blocks.h"

static bool usable(const cco_problem *q)
{
    (void)q;
    return true;
}

static void build(cco_sched *s, const cco_problem *q)
{
    cco_tree_scatter(s, q);
}

const cco_algo cco_scatter_binomial = {
    .name = "binomial",
    .doc = "a binomial tree from the root",
    .usable = usable,
    .build = build,
};
