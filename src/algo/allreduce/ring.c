/* SPDX-License-Identifier: BSD-3-Clause */
/* allreduce "ring": ring reduce-scatter, then ring allgather.
 *
 *   messages 2(p-1)   bytes sent per rank 2n(p-1)/p   scratch n/p   operation: commutative
 *
 * Bandwidth-optimal for large n; latency grows with p.
 * P. Patarasuk, X. Yuan: Bandwidth optimal all-reduce algorithms for clusters of workstations,
 * J. Parallel Distrib. Comput. 69 (2009). */
#include "algo/algo.h"

static const char *allreduce_ring_refuses(const cco_problem *q)
{
    return q->commutative ? NULL : "needs a commutative operation";
}

static void allreduce_ring_build(cco_sched *s, const cco_problem *q)
{
    const int p = q->size, me = q->rank, next = (me + 1) % p, prev = (me + p - 1) % p;
    const cco_span all = cco_whole(&q->out);
    const cco_span tmp = cco_scratch(s, cco_cut(s, q, all, 0, p).n);

    cco_copy(s, cco_whole(&q->in), all);
    for (int k = 0; k < p - 1; k++) { /* reduce-scatter: a partial sum goes round for each part */
        const cco_span mine = cco_cut(s, q, all, me - k - 1, p);
        const cco_span got = cco_part(s, tmp, 0, mine.n);
        cco_round(s);
        cco_send(s, next, cco_cut(s, q, all, me - k, p));
        cco_recv(s, prev, got);
        cco_round(s);
        cco_reduce(s, got, mine);
    }
    for (int k = 0; k < p - 1; k++) { /* allgather */
        cco_round(s);
        cco_send(s, next, cco_cut(s, q, all, me - k + 1, p));
        cco_recv(s, prev, cco_cut(s, q, all, me - k, p));
    }
}

const cco_algo cco_allreduce_ring = {
    .name = "ring",
    .doc = "ring reduce-scatter, then ring allgather",
    .refuses = allreduce_ring_refuses,
    .build = allreduce_ring_build,
};
