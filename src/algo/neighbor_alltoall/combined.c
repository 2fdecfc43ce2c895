/* SPDX-License-Identifier: BSD-3-Clause */
/* neighbor_alltoall, neighbor_alltoallv, neighbor_alltoallw "combined": what goes from one rank to
 * another on several edges is one message (pattern/near_common.h).
 *
 *   messages 1 per neighbouring rank   bytes sent per rank all blocks   scratch 2n of such edges */
#include "algo/algo.h"

#include "algo/pattern/near_common.h"

static const char *refuses(const cco_problem *q)
{
    (void)q;
    return NULL;
}

static void build(cco_sched *s, const cco_problem *q)
{
    const cco_near_edges *out = cco_near_by_peer(s, q, true), *in = cco_near_by_peer(s, q, false);
    if (out == NULL || in == NULL)
        return;
    const cco_near_common c = cco_near_common_make(s, q, in, out, (size_t)q->params[0]);
    if (cco_near_common_pack(s, q, &c))
        cco_round(s);
    cco_near_common_exchange(s, q, &c);
    cco_near_loops(s, q);
    if (c.got.n > 0)
        cco_round(s);
    cco_near_common_unpack(s, q, &c);
}

const cco_algo cco_neighbor_alltoall_combined = {
    .name = "combined",
    .doc = "what goes to one rank on several edges is one message",
    .refuses = refuses,
    .build = build,
    .params = {{"most", CCO_NEAR_MOST, 0, 1 << 30, "bytes between two ranks, in one message"}},
};
