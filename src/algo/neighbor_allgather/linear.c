/* SPDX-License-Identifier: BSD-3-Clause */
/* neighbor_allgather, neighbor_allgatherv "linear": a message for each edge, all at once.
 *
 *   messages d   bytes sent per rank n d   scratch 0   (d: edges to other ranks) */
#include "algo/algo.h"

#include "algo/pattern/neighbor.h"

const cco_algo cco_neighbor_allgather_linear = {
    .name = "linear",
    .doc = "a message for each edge, all at once",
    .build = cco_neighbor_linear,
};
