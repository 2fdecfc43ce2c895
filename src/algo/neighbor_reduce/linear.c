/* SPDX-License-Identifier: BSD-3-Clause */
/* neighbor_reduce "linear": neighbor_allgather "linear" to scratch, and then the reduction in the
 * order of the sources.
 *
 *   messages d   bytes sent per rank n d   scratch n d
 *
 * d: edges that end here. */
#include "algo/algo.h"

#include "algo/pattern/neighbor_reduction.h"
#include "algo/registry.h"

static void neighbor_reduce_linear_build(cco_sched *s, const cco_problem *q)
{
    cco_neighbor_reduction(s, q, &cco_neighbor_allgather_linear);
}

const cco_algo cco_neighbor_reduce_linear = {
    .name = "linear",
    .doc = "a message for each edge, all at once",
    .build = neighbor_reduce_linear_build,
};
