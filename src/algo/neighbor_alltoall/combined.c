/* SPDX-License-Identifier: BSD-3-Clause */
/* neighbor_alltoall, neighbor_alltoallv, neighbor_alltoallw "combined": what goes from one rank to
 * another on several edges is one message (pattern/neighbor_common.h).
 *
 *   messages 1 per neighboring rank   bytes sent per rank all blocks   scratch 2n of such edges */
#include "algo/algo.h"

#include "algo/pattern/neighbor_common.h"

static void neighbor_alltoall_combined_build(cco_sched *s, const cco_problem *q)
{
    const cco_neighbor_edges *out = cco_neighbor_by_peer(s, q, true),
                             *in = cco_neighbor_by_peer(s, q, false);
    if (out == NULL || in == NULL)
        return;
    const cco_neighbor_common c = cco_neighbor_common_make(s, q, in, out, (size_t)q->params[0]);
    if (cco_neighbor_common_pack(s, q, &c))
        cco_round(s);
    cco_neighbor_common_exchange(s, q, &c);
    cco_neighbor_loops(s, q);
    if (c.got.n > 0)
        cco_round(s);
    cco_neighbor_common_unpack(s, q, &c);
}

const cco_algo cco_neighbor_alltoall_combined = {
    .name = "combined",
    .doc = "what goes to one rank on several edges is one message",
    .build = neighbor_alltoall_combined_build,
    .params = {{"most", CCO_NEAR_MOST, 0, 1 << 30, "bytes between two ranks, in one message"}},
};
