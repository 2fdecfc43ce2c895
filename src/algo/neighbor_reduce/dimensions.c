/* SPDX-License-Identifier: BSD-3-Clause */
/* neighbor_reduce "dimensions": neighbor_allgather "dimensions" to scratch, and then the reduction
 * in the order of the sources.
 *
 *   messages 2 k   bytes sent per rank (3^k - 1) n   scratch 3 (3^k - 1) n   (k: dimensions)
 *
 * d: edges that end here. */
#include "algo/algo.h"

#include "algo/pattern/neighbor.h"
#include "algo/pattern/neighbor_reduction.h"
#include "algo/registry.h"

static void neighbor_reduce_dimensions_build(cco_sched *s, const cco_problem *q)
{
    cco_neighbor_reduction(s, q, &cco_neighbor_allgather_dimensions);
}

const cco_algo cco_neighbor_reduce_dimensions = {
    .name = "dimensions",
    .doc = "a stencil of all ranks around one, dimension by dimension",
    .refuses = cco_neighbor_stencil_refuses,
    .build = neighbor_reduce_dimensions_build,
};
