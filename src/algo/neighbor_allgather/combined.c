/* SPDX-License-Identifier: BSD-3-Clause */
/* neighbor_allgather, neighbor_allgatherv "combined": a rank gets a block once, however many edges
 * there are between the two.
 *
 *   messages 1 per neighboring rank   bytes sent per rank n for each of these   scratch 0 */
#include "algo/algo.h"

#include "algo/pattern/neighbor.h"

static void neighbor_allgather_combined_build(cco_sched *s, const cco_problem *q)
{
    const cco_neighbor_edges *out = cco_neighbor_by_peer(s, q, true),
                             *in = cco_neighbor_by_peer(s, q, false);
    bool repeats = false;
    if (out == NULL || in == NULL)
        return;
    for (const cco_neighbor_edges *from = in; from->count > 0; from++) {
        cco_recv(s, from->peer, cco_block(q, &q->out, from->blocks[0]));
        repeats = repeats || from->count > 1;
    }
    for (; out->count > 0; out++)
        cco_send(s, out->peer, cco_whole(&q->in));
    cco_neighbor_loops(s, q);
    if (repeats)
        cco_round(s);
    for (; in->count > 0; in++)
        for (int i = 1; i < in->count; i++)
            cco_copy(s, cco_block(q, &q->out, in->blocks[0]), cco_block(q, &q->out, in->blocks[i]));
}

const cco_algo cco_neighbor_allgather_combined = {
    .name = "combined",
    .doc = "a rank gets a block once, however many edges there are",
    .build = neighbor_allgather_combined_build,
};
