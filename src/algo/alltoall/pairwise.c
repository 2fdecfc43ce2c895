/* SPDX-License-Identifier: BSD-3-Clause */
/* alltoall, alltoallv, alltoallw "pairwise": in round k, send to the rank k after, receive from
 * the one k before.
 *
 *   messages p-1, one a round   bytes sent per rank all blocks but one   scratch 0
 *
 * For large blocks: one message at a time each way.
 * R. Thakur, R. Rabenseifner, W. Gropp: Optimization of collective communication operations in
 * MPICH, Int. J. High Perform. Comput. Appl. 19 (2005). */
#include "algo/algo.h"

#include "algo/pattern/linear.h"

static void alltoall_pairwise_build(cco_sched *s, const cco_problem *q)
{
    cco_linear_exchange(s, q, 1);
}

const cco_algo cco_alltoall_pairwise = {
    .name = "pairwise",
    .doc = "in round k, send to the rank k after, receive from the one k before",
    .build = alltoall_pairwise_build,
};
