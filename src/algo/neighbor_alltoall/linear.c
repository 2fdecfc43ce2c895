/* SPDX-License-Identifier: BSD-3-Clause */
/* neighbor_alltoall, neighbor_alltoallv, neighbor_alltoallw "linear": a message for each edge, all
 * at once.
 *
 *   messages d   bytes sent per rank all blocks   scratch 0   (d: edges to other ranks) */
#include "algo/algo.h"

#include "algo/pattern/neighbor.h"

static const char *neighbor_alltoall_linear_refuses(const cco_problem *q)
{
    (void)q;
    return NULL;
}

const cco_algo cco_neighbor_alltoall_linear = {
    .name = "linear",
    .doc = "a message for each edge, all at once",
    .refuses = neighbor_alltoall_linear_refuses,
    .build = cco_neighbor_linear,
};
