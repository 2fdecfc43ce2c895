/* SPDX-License-Identifier: BSD-3-Clause */
/* neighbor_reduce "leaders": neighbor_allgather "leaders" to scratch, and then the reduction in the
 * order of the sources.
 *
 *   messages and bytes between nodes: as there   scratch n d   (d: edges that end here) */
#include "algo/algo.h"

#include "algo/pattern/neighbor_reduction.h"
#include "algo/registry.h"

static const char *neighbor_reduce_leaders_refuses(const cco_problem *q)
{
    return cco_neighbor_allgather_leaders.refuses(q);
}

static void neighbor_reduce_leaders_build(cco_sched *s, const cco_problem *q)
{
    cco_neighbor_reduction(s, q, &cco_neighbor_allgather_leaders);
}

const cco_algo cco_neighbor_reduce_leaders = {
    .name = "leaders",
    .doc = "a vector once into every other node, to one rank that needs it",
    .refuses = neighbor_reduce_leaders_refuses,
    .build = neighbor_reduce_leaders_build,
};
