/* SPDX-License-Identifier: BSD-3-Clause */
/* allgather, allgatherv "bruck": in round j, get the blocks of the k-1 ranks k^j, 2k^j, ... after.
 *
 *   messages ceil(log_k p)(k-1) at most   bytes received per rank all blocks but its own
 *   scratch all blocks
 *
 * Fewest rounds for any p, for small n.
 * J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal, D. Weathersby: Efficient algorithms for all-to-all
 * communications in multiport message-passing systems, IEEE Trans. Parallel Distrib. Syst. 8
 * (1997). */
#include "algo/algo.h"

#include "algo/pattern/allgather.h"

static void allgather_bruck_build(cco_sched *s, const cco_problem *q)
{
    cco_bruck_allgather(s, q, q->params[0]);
}

const cco_algo cco_allgather_bruck = {
    .name = "bruck",
    .doc = "in round j, get the blocks of the k-1 ranks k^j, 2k^j, ... after",
    .build = allgather_bruck_build,
    .params = {{"k", 2, 2, 64, "radix"}},
};
