/* SPDX-License-Identifier: BSD-3-Clause */
/* reduce "chain": from rank to rank, in segments that follow each other.
 *
 *   messages n/segment on a rank, in p-2 + n/segment steps   bytes sent per rank n
 *   scratch 2 segments   operation: commutative, or root 0
 *
 * The chain runs from the rank before the root down to the root, against the order of ranks: what
 * comes is the right operand. */
#include "algo/algo.h"

#include "algo/pattern/blocks.h"

static const char *reduce_chain_refuses(const cco_problem *q)
{
    const bool can = q->commutative || q->root == 0;
    return can ? NULL : "needs a commutative operation or the first rank as root";
}

static void reduce_chain_build(cco_sched *s, const cco_problem *q)
{
    const int p = q->size, place = (q->rank - q->root + p) % p;
    const int next = (q->rank + 1) % p, prev = (q->rank + p - 1) % p;
    const long segment = q->params[0];
    const cco_span in = cco_whole(&q->in), out = cco_whole(&q->out);
    const size_t segments = cco_pieces(q, in.n, segment);
    const size_t size = cco_piece(s, q, in, 0, segment).n;
    const cco_span tmp[] = {cco_scratch(s, size), cco_scratch(s, size)};
    const bool last = place == p - 1;

    cco_span sum = in; /* of the segment before; the last rank has nothing to add to */
    for (size_t i = 0; i <= segments; i++) {
        const cco_span before = sum;
        cco_round(s);
        if (i > 0 && place > 0)
            cco_send(s, prev, before);
        if (i > 0 && place == 0)
            cco_copy(s, before, cco_piece(s, q, out, i - 1, segment));
        if (i == segments)
            break;
        const cco_span own = cco_piece(s, q, in, i, segment);
        sum = last ? own : cco_part(s, tmp[i % 2], 0, own.n);
        if (!last) {
            cco_recv(s, next, sum);
            cco_round(s);
            cco_reduce(s, own, sum);
        }
    }
}

const cco_algo cco_reduce_chain = {
    .name = "chain",
    .doc = "from rank to rank, in segments that follow each other",
    .refuses = reduce_chain_refuses,
    .build = reduce_chain_build,
    .params = {{"segment", 65536, 1, 1 << 30, "bytes of a segment"}},
};
