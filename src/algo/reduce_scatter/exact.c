/* SPDX-License-Identifier: BSD-3-Clause */
/* reduce_scatter, reduce_scatter_block "exact": every rank gets all operands of its block, and
 * combines them at once.
 *
 *   messages p-1   bytes sent per rank all blocks but one   scratch p blocks   operation: any
 *
 * Sums of floating-point numbers are rounded once: the bits do not depend on the order of ranks. */
#include "algo/algo.h"

static void reduce_scatter_exact_build(cco_sched *s, const cco_problem *q)
{
    enum { WINDOW = 32 };
    const int p = q->size, me = q->rank;
    const cco_span out = cco_whole(&q->out), mine = cco_block(q, &q->in, me);
    const cco_span got = cco_scratch(s, (size_t)p * mine.n);
    cco_copy(s, mine, cco_part(s, got, (size_t)me * mine.n, mine.n));
    for (int k = 1; k < p; k++) {
        const int to = (me + k) % p, from = (me - k + p) % p;
        if (k % WINDOW == 0)
            cco_round(s);
        cco_recv(s, from, cco_part(s, got, (size_t)from * mine.n, mine.n));
        cco_send(s, to, cco_block(q, &q->in, to));
    }
    cco_round(s);
    cco_fold_into(s, got, out);
}

const cco_algo cco_reduce_scatter_exact = {
    .name = "exact",
    .doc = "all operands of a block on one rank; floating-point sums are rounded once",
    .folds = true,
    .build = reduce_scatter_exact_build,
};
