/* SPDX-License-Identifier: BSD-3-Clause */
/* neighbor_alltoall_reduce "leaders": neighbor_alltoall "leaders" to scratch, and then the
 * reduction in the order of the sources.
 *
 *   messages between nodes: 1 for each two nodes with an edge   bytes: each block once
 *   scratch n d and as there   (d: edges that end here)
 *   before: as there, since a leader does not know on how many edges a rank gives to another */
#include "algo/algo.h"

#include "algo/pattern/neighbor_reduction.h"
#include "algo/registry.h"

static const char *neighbor_alltoall_reduce_leaders_refuses(const cco_problem *q)
{
    return cco_neighbor_alltoall_leaders.refuses(q);
}

static void neighbor_alltoall_reduce_leaders_build(cco_sched *s, const cco_problem *q)
{
    cco_neighbor_reduction(s, q, &cco_neighbor_alltoall_leaders);
}

const cco_algo cco_neighbor_alltoall_reduce_leaders = {
    .name = "leaders",
    .doc = "through one rank of each node, in one message to each other node",
    .refuses = neighbor_alltoall_reduce_leaders_refuses,
    .build = neighbor_alltoall_reduce_leaders_build,
    .shares_counts = true,
    .params = {{"most", 4000, 0, 1 << 30, "bytes between two ranks that go through leaders"}},
};
