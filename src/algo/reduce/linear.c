/* SPDX-License-Identifier: BSD-3-Clause */
/* reduce "linear": every rank sends to the root, which reduces in the order of ranks.
 *
 *   messages p-1 to the root   bytes sent per rank n   scratch 2n (in place 3n) on the root
 *   operation: any
 *
 * From the last rank to the first, so that what comes is the left operand. */
#include "algo/algo.h"

static void reduce_linear_build(cco_sched *s, const cco_problem *q)
{
    const int p = q->size;
    const cco_span in = cco_whole(&q->in), out = cco_whole(&q->out);
    if (q->rank != q->root) {
        cco_send(s, q->root, in);
        return;
    }
    const cco_span sum = q->in.base == CCO_OUT ? cco_scratch(s, in.n) : out;
    const cco_span got[] = {cco_scratch(s, in.n), cco_scratch(s, in.n)};
    for (int i = p - 1; i >= -1; i--) { /* rank i comes while rank i+1 is reduced */
        const int before = i + 1;
        const cco_span from = before == q->root ? in : got[before % 2];
        cco_round(s);
        if (i >= 0 && i != q->root)
            cco_recv(s, i, got[i % 2]);
        if (before == p - 1)
            cco_copy(s, from, sum);
        else if (before < p)
            cco_reduce(s, from, sum);
    }
    cco_round(s);
    cco_copy(s, sum, out);
}

const cco_algo cco_reduce_linear = {
    .name = "linear",
    .doc = "every rank sends to the root, which reduces in the order of ranks",
    .build = reduce_linear_build,
};
