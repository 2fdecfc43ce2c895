/* SPDX-License-Identifier: BSD-3-Clause */
/* exscan "recursive_doubling": in round k, add the partial sum of the rank 2^k before.
 *
 *   messages <= ceil(log2 p)   bytes sent per rank <= n ceil(log2 p)   scratch 2n   operation: any
 *
 * Fewest rounds, for any p.
 * W. D. Hillis, G. L. Steele: Data parallel algorithms, Commun. ACM 29 (1986). */
#include "algo/algo.h"

static void exscan_recursive_doubling_build(cco_sched *s, const cco_problem *q)
{
    const int p = q->size, me = q->rank;
    const cco_span out = cco_whole(&q->out);
    const cco_span sum = cco_scratch(s, out.n), got = cco_scratch(s, out.n);
    cco_copy(s, cco_whole(&q->in), sum);
    for (int far = 1; far < p; far *= 2) { /* sum: of the last `far` ranks up to this one */
        cco_round(s);
        if (me < p - far)
            cco_send(s, me + far, sum);
        if (me < far)
            continue;
        cco_recv(s, me - far, got);
        cco_round(s);
        cco_reduce(s, got, sum);
        if (far == 1) /* out: the same without this rank */
            cco_copy(s, got, out);
        else
            cco_reduce(s, got, out);
    }
}

const cco_algo cco_exscan_recursive_doubling = {
    .name = "recursive_doubling",
    .doc = "in round k, add the partial sum of the rank 2^k before",
    .build = exscan_recursive_doubling_build,
};
