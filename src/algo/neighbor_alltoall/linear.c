/* SPDX-License-Identifier: BSD-3-Clause */
/* neighbor_alltoall, neighbor_alltoallv, neighbor_alltoallw "linear": a message for each edge, all
 * at once.
 *
 *   messages d   bytes sent per rank all blocks   scratch 0   (d: edges to other ranks) */
#include "algo/algo.h"

#include "algo/pattern/neighbor.h"

const cco_algo cco_neighbor_alltoall_linear = {
    .name = "linear",
    .doc = "a message for each edge, all at once",
    .build = cco_neighbor_linear,
};
