/* SPDX-License-Identifier: BSD-3-Clause */
/* scan "recursive_doubling": in round k, add the partial sum of the rank 2^k before.
 *
 *   messages <= ceil(log2 p)   bytes sent per rank <= n ceil(log2 p)   scratch n   operation: any
 *
 * Fewest rounds, for any p.
 * W. D. Hillis, G. L. Steele: Data parallel algorithms, Commun. ACM 29 (1986). */
#include "algo/algo.h"

static void scan_recursive_doubling_build(cco_sched *s, const cco_problem *q)
{
    const int p = q->size, me = q->rank;
    const cco_span sum = cco_whole(&q->out), got = cco_scratch(s, sum.n);
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
    }
}

const cco_algo cco_scan_recursive_doubling = {
    .name = "recursive_doubling",
    .doc = "in round k, add the partial sum of the rank 2^k before",
    .build = scan_recursive_doubling_build,
};
