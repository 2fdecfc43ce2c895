/* SPDX-License-Identifier: BSD-3-Clause */
/* allgather, allgatherv "recursive_doubling": exchange everything with the rank 2^k away, in
 * log2 p rounds.
 *
 *   messages log2 p (+ 2)   bytes received per rank all blocks but its own
 *   bytes sent per rank of an allgather n(p-1) (+ n(p-1))
 *   scratch 0, of an allgatherv all blocks
 *
 * Few rounds.  With p no power of two, the first 2(p - 2^m) ranks pair up before and after.
 * R. Thakur, R. Rabenseifner, W. Gropp: Optimization of collective communication operations in
 * MPICH, Int. J. High Perform. Comput. Appl. 19 (2005). */
#include "algo/algo.h"

#include "algo/pattern/allgather.h"

static void allgather_recursive_doubling_build(cco_sched *s, const cco_problem *q)
{
    cco_doubling_allgather(s, q);
}

const cco_algo cco_allgather_recursive_doubling = {
    .name = "recursive_doubling",
    .doc = "exchange everything with the rank 2^k away, in log2 p rounds",
    .build = allgather_recursive_doubling_build,
};
