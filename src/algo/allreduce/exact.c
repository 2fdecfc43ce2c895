/* SPDX-License-Identifier: BSD-3-Clause */
/* allreduce "exact": every rank gets all operands of its part, combines them at once, and tells.
 *
 *   messages 2(p-1), little data ceil(log2 p)   bytes sent per rank 2n(p-1)/p, n(p-1)
 *   scratch n, np   operation: any
 *
 * As many bytes as the ring, in as many messages, which all leave at once.  Sums of floating-point
 * numbers are rounded once: the bits do not depend on the order of ranks. */
#include "algo/algo.h"

#include "algo/pattern/contributions.h"

/* Everybody's part of the result to everybody. */
static void allreduce_exact_tell(cco_sched *s, const cco_problem *q, cco_span result)
{
    enum { WINDOW = 32 };
    const int p = q->size, me = q->rank;
    for (int k = 1; k < p; k++) {
        const int to = (me + k) % p, from = (me - k + p) % p;
        if (k % WINDOW == 0)
            cco_round(s);
        cco_recv(s, from, cco_share(s, q, result, from));
        cco_send(s, to, cco_share(s, q, result, me));
    }
}

static void allreduce_exact_build(cco_sched *s, const cco_problem *q)
{
    const cco_span in = cco_whole(&q->in), out = cco_whole(&q->out);
    if (cco_all_contribute(q, out.n)) {
        cco_fold_into(s, cco_contributions(s, q, in), out);
        return;
    }
    cco_fold_into(s, cco_contributed_share(s, q, in), cco_share(s, q, out, q->rank));
    cco_round(s);
    allreduce_exact_tell(s, q, out);
}

const cco_algo cco_allreduce_exact = {
    .name = "exact",
    .doc = "all operands of a part on one rank; floating-point sums are rounded once",
    .folds = true,
    .build = allreduce_exact_build,
};
