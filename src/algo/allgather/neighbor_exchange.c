/* SPDX-License-Identifier: BSD-3-Clause */
/* allgather, allgatherv "neighbor_exchange": pairs of blocks go both ways between neighbors.
 *
 *   messages p/2   bytes received per rank all blocks but its own
 *   scratch 0, of an allgatherv all blocks   p: even
 *
 * Half the rounds of the ring.
 * J. Chen, L. Zhang, Y. Zhang, W. Yuan: Performance evaluation of allgather algorithms on terascale
 * Linux cluster with Fast Ethernet, HPC Asia 2005. */
#include "algo/algo.h"

#include "algo/pattern/allgather.h"

static const char *allgather_neighbor_exchange_refuses(const cco_problem *q)
{
    return q->size % 2 == 0 ? NULL : "needs an even number of processes";
}

static void allgather_neighbor_exchange_build(cco_sched *s, const cco_problem *q)
{
    cco_neighbor_allgather(s, q);
}

const cco_algo cco_allgather_neighbor_exchange = {
    .name = "neighbor_exchange",
    .doc = "pairs of blocks go both ways between neighbours",
    .refuses = allgather_neighbor_exchange_refuses,
    .build = allgather_neighbor_exchange_build,
};
