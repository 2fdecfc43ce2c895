/* SPDX-License-Identifier: BSD-3-Clause */
/* allreduce "recursive_doubling": in round k, exchange all there is with the rank 2^k away.
 *
 *   messages log2 p (+ 2)   bytes sent per rank n log2 p (+ n)   scratch n   operation: any
 *
 * Fewest rounds, for small n.  With p no power of two, the first 2(p - 2^m) ranks pair up before and
 * after; groups stay contiguous, so that the order of operands is that of ranks.
 * R. Thakur, R. Rabenseifner, W. Gropp: Optimization of collective communication operations in
 * MPICH, Int. J. High Perform. Comput. Appl. 19 (2005). */
#include "algo/algo.h"

static bool usable(const cco_problem *q)
{
    (void)q;
    return true;
}

/* Takes the partner's data in; the lower rank's are the left operand on both. */
static void combine(cco_sched *s, cco_span got, cco_span mine, bool theirs_left)
{
    cco_round(s);
    if (theirs_left) {
        cco_reduce(s, got, mine);
    } else {
        cco_reduce(s, mine, got);
        cco_round(s);
        cco_copy(s, got, mine);
    }
}

static void build(cco_sched *s, const cco_problem *q)
{
    const int me = q->rank;
    int m = 1;
    while (2 * m <= q->size)
        m *= 2;
    const int extra = q->size - m; /* pairs: their even ranks rest while the others work */
    const bool paired = me < 2 * extra, rests = paired && me % 2 == 0;
    const int place = paired ? me / 2 : me - extra;
    const cco_span mine = cco_whole(&q->out), got = cco_scratch(s, mine.n);

    cco_copy(s, cco_whole(&q->in), mine);
    cco_round(s);
    if (rests) {
        cco_send(s, me + 1, mine);
        cco_round(s);
        cco_recv(s, me + 1, mine);
        return;
    }
    if (paired) {
        cco_recv(s, me - 1, got);
        combine(s, got, mine, true);
    }
    for (int bit = 1; bit < m; bit *= 2) {
        const int other = place ^ bit, peer = other < extra ? 2 * other + 1 : other + extra;
        cco_round(s);
        cco_send(s, peer, mine);
        cco_recv(s, peer, got);
        combine(s, got, mine, other < place);
    }
    cco_round(s);
    if (paired)
        cco_send(s, me - 1, mine);
}

const cco_algo cco_allreduce_recursive_doubling = {
    .name = "recursive_doubling",
    .doc = "exchange everything with the rank 2^k away, in log2 p rounds",
    .usable = usable,
    .build = build,
};
