/* SPDX-License-Identifier: BSD-3-Clause */
/* allgather "bruck": in round j, get the blocks of the k-1 ranks k^j, 2k^j, ... after.
 *
 *   messages ceil(log_k p)(k-1) at most   bytes sent per rank n(p-1)   scratch np
 *
 * Fewest rounds for any p, for small n.
 * J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal, D. Weathersby: Efficient algorithms for all-to-all
 * communications in multiport message-passing systems, IEEE Trans. Parallel Distrib. Syst. 8
 * (1997). */
#include "algo/algo.h"

#include "algo/pattern/blocks.h"

static bool usable(const cco_problem *q)
{
    (void)q;
    return true;
}

/* Blocks in scratch, where those of this rank and of its successors lie one after the other. */
static cco_span blocks(cco_sched *s, const cco_problem *q, cco_span all, int first, int count)
{
    return cco_part(s, all, (size_t)first * q->bytes, (size_t)count * q->bytes);
}

static void build(cco_sched *s, const cco_problem *q)
{
    const int p = q->size, me = q->rank, k = (int)q->params[0];
    const cco_span all = cco_scratch(s, (size_t)p * q->bytes);
    cco_copy(s, cco_whole(&q->in), blocks(s, q, all, 0, 1));
    for (int have = 1; have < p;) {
        int next = have;
        cco_round(s);
        for (int i = 1; i < k && next < p; i++) {
            const int count = have < p - next ? have : p - next;
            cco_send(s, (me - next + p) % p, blocks(s, q, all, 0, count));
            cco_recv(s, (me + next) % p, blocks(s, q, all, next, count));
            next += count;
        }
        have = next;
    }
    cco_round(s);
    cco_copy(s, blocks(s, q, all, 0, p - me), cco_run(q, &q->out, me, p));
    cco_copy(s, blocks(s, q, all, p - me, me), cco_run(q, &q->out, 0, me));
}

const cco_algo cco_allgather_bruck = {
    .name = "bruck",
    .doc = "in round j, get the blocks of the k-1 ranks k^j, 2k^j, ... after",
    .usable = usable,
    .build = build,
    .params = {{"k", 2, 2, 64, "radix"}},
};
