/* SPDX-License-Identifier: BSD-3-Clause */
/* neighbor_alltoall_reduce "combined": neighbor_alltoall "combined" to scratch, and then the
 * reduction in the order of the sources.
 *
 *   messages 1 per neighboring rank   bytes sent per rank all blocks   scratch n d and as combined
 *
 * d: edges that end here. */
#include "algo/algo.h"

#include "algo/pattern/neighbor_reduction.h"
#include "algo/registry.h"

static void neighbor_alltoall_reduce_combined_build(cco_sched *s, const cco_problem *q)
{
    cco_neighbor_reduction(s, q, &cco_neighbor_alltoall_combined);
}

const cco_algo cco_neighbor_alltoall_reduce_combined = {
    .name = "combined",
    .doc = "what comes from one rank is one message",
    .build = neighbor_alltoall_reduce_combined_build,
    .params = {{"most", 4000, 0, 1 << 30, "bytes between two ranks, in one message"}},
};
