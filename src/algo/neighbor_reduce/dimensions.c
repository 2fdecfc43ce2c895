/* SPDX-License-Identifier: BSD-3-Clause */
/* neighbor_reduce "dimensions": neighbor_allgather "dimensions" to scratch, and then the reduction
 * in the order of the sources.
 *
 *   messages 2 k   bytes sent per rank (3^k - 1) n   scratch 3 (3^k - 1) n   (k: dimensions)
 *
 * d: edges that end here. */
#include "algo/algo.h"

#include "algo/pattern/near.h"
#include "algo/pattern/near_reduction.h"
#include "algo/registry.h"

static void build(cco_sched *s, const cco_problem *q)
{
    cco_near_reduction(s, q, &cco_neighbor_allgather_dimensions);
}

const cco_algo cco_neighbor_reduce_dimensions = {
    .name = "dimensions",
    .doc = "a stencil of all ranks around one, dimension by dimension",
    .refuses = cco_near_stencil_refuses,
    .build = build,
};
