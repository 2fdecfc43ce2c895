/* SPDX-License-Identifier: BSD-3-Clause */
/* gather, gatherv "binomial": a binomial tree to the root.
 *
 *   messages p-1 (or p) in all, in ceil(log2 p) steps; of a gatherv p-1, after a broadcast of 8p
 *   bytes: all sizes
 *   bytes sent per rank the blocks of its subtree
 *   scratch the blocks of its subtree, on leaves and on the root of a gather 0
 *
 * Few rounds, for small n.
 * R. Thakur, R. Rabenseifner, W. Gropp: Optimization of collective communication operations in
 * MPICH, Int. J. High Perform. Comput. Appl. 19 (2005). */
#include "algo/algo.h"

#include "algo/pattern/tree_blocks.h"

static void gather_binomial_build(cco_sched *s, const cco_problem *q)
{
    cco_tree_gather(s, q);
}

const cco_algo cco_gather_binomial = {
    .name = "binomial",
    .doc = "a binomial tree to the root",
    .build = gather_binomial_build,
    .shares_counts = true,
};
