/* SPDX-License-Identifier: BSD-3-Clause */
/* neighbor_reduce "combined": neighbor_allgather "combined" to scratch, and then the reduction in
 * the order of the sources.
 *
 *   messages 1 per neighboring rank   bytes sent per rank n for each of these   scratch n d
 *
 * d: edges that end here. */
#include "algo/algo.h"

#include "algo/pattern/neighbor_reduction.h"
#include "algo/registry.h"

static void neighbor_reduce_combined_build(cco_sched *s, const cco_problem *q)
{
    cco_neighbor_reduction(s, q, &cco_neighbor_allgather_combined);
}

const cco_algo cco_neighbor_reduce_combined = {
    .name = "combined",
    .doc = "a message for each neighbouring rank",
    .build = neighbor_reduce_combined_build,
};
