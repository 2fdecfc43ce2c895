/* SPDX-License-Identifier: BSD-3-Clause */
/* reduce_scatter, reduce_scatter_block "recursive_halving": exchange half of what is left with
 * the rank p/2^k away.
 *
 *   messages log2 p (+ 1)   bytes sent per rank N(p-1)/p (+ N), N all blocks   scratch 2N
 *   operation: commutative
 *
 * Few rounds.  With p no power of two, the first 2(p - 2^m) ranks pair up before and after.
 * R. Thakur, R. Rabenseifner, W. Gropp: Optimization of collective communication operations in
 * MPICH, Int. J. High Perform. Comput. Appl. 19 (2005). */
#include "algo/algo.h"

#include "algo/pattern/reduce_scatter.h"

static const char *reduce_scatter_recursive_halving_refuses(const cco_problem *q)
{
    return q->commutative ? NULL : "needs a commutative operation";
}

static void reduce_scatter_recursive_halving_build(cco_sched *s, const cco_problem *q)
{
    cco_halving_reduce_scatter(s, q);
}

const cco_algo cco_reduce_scatter_recursive_halving = {
    .name = "recursive_halving",
    .doc = "exchange half of what is left with the rank p/2^k away",
    .refuses = reduce_scatter_recursive_halving_refuses,
    .build = reduce_scatter_recursive_halving_build,
};
