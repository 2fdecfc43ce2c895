/* SPDX-License-Identifier: BSD-3-Clause */
/* scatter, scatterv "binomial": a binomial tree from the root.
 *
 *   messages p-1 (or p) in all, in ceil(log2 p) steps; of a scatterv p-1, after a broadcast of 8p
 *   bytes: all sizes
 *   bytes sent per rank the blocks of its subtree but its own
 *   scratch the blocks of its subtree, on leaves and on the root of a scatter 0
 *
 * Few rounds, for small n.
 * R. Thakur, R. Rabenseifner, W. Gropp: Optimization of collective communication operations in
 * MPICH, Int. J. High Perform. Comput. Appl. 19 (2005). */
#include "algo/algo.h"

#include "algo/pattern/tree_blocks.h"

static void scatter_binomial_build(cco_sched *s, const cco_problem *q)
{
    cco_tree_scatter(s, q);
}

const cco_algo cco_scatter_binomial = {
    .name = "binomial",
    .doc = "a binomial tree from the root",
    .build = scatter_binomial_build,
    .shares_counts = true,
};
