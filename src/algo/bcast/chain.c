/* SPDX-License-Identifier: BSD-3-Clause */
/* bcast "chain": from rank to rank, in segments that follow each other.
 *
 *   messages n/segment on a rank, in p-2 + n/segment rounds   bytes sent n by each   scratch 0
 *
 * For large n and few ranks: every rank sends and receives all the time. */
#include "algo/algo.h"

#include "algo/pattern/blocks.h"

static void bcast_chain_build(cco_sched *s, const cco_problem *q)
{
    const int p = q->size, from_root = (q->rank - q->root + p) % p;
    const int next = (q->rank + 1) % p, prev = (q->rank + p - 1) % p;
    const long segment = q->params[0];
    const cco_span all = cco_whole(&q->out);
    const size_t segments = cco_pieces(q, all.n, segment);
    for (size_t i = 0; i <= segments; i++) { /* one segment comes while the last goes on */
        cco_round(s);
        if (i > 0 && from_root < p - 1)
            cco_send(s, next, cco_piece(s, q, all, i - 1, segment));
        if (i < segments && from_root > 0)
            cco_recv(s, prev, cco_piece(s, q, all, i, segment));
    }
}

const cco_algo cco_bcast_chain = {
    .name = "chain",
    .doc = "from rank to rank, in segments that follow each other",
    .build = bcast_chain_build,
    .params = {{"segment", 65536, 1, 1 << 30, "bytes of a segment"}},
};
