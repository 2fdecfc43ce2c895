/* SPDX-License-Identifier: BSD-3-Clause */
/* bcast "binomial": a binomial tree from the root.
 *
 *   messages <= log2 p on a rank, p-1 in all   bytes sent n(p-1) in all   scratch 0
 *
 * R. Thakur, R. Rabenseifner, W. Gropp: Optimization of collective communication operations in
 * MPICH, Int. J. High Perform. Comput. Appl. 19 (2005). */
#include "algo/algo.h"

#include "algo/pattern/tree.h"

static void bcast_binomial_build(cco_sched *s, const cco_problem *q)
{
    cco_tree_bcast(s, q, q->root, cco_whole(&q->out));
}

const cco_algo cco_bcast_binomial = {
    .name = "binomial",
    .doc = "a binomial tree from the root",
    .build = bcast_binomial_build,
};
