/* SPDX-License-Identifier: BSD-3-Clause */
/* reduce "exact": every rank gets all operands of its part, and the root all results.
 *
 *   messages p, little data ceil(log2 p)   bytes sent per rank n, n(p-1)
 *   scratch n, np   operation: any
 *
 * Little data all ranks get, as in allreduce, so that no root takes p messages in turn.  Sums of
 * floating-point numbers are rounded once: the bits do not depend on the order of ranks. */
#include "algo/algo.h"

#include "algo/pattern/contributions.h"

static void reduce_exact_build(cco_sched *s, const cco_problem *q)
{
    const int p = q->size, me = q->rank;
    const cco_span in = cco_whole(&q->in), out = cco_whole(&q->out);
    if (cco_all_contribute(q, in.n)) {
        const cco_span all = cco_contributions(s, q, in);
        if (me == q->root)
            cco_fold_into(s, all, out);
        return;
    }
    const cco_span got = cco_contributed_share(s, q, in), part = cco_share(s, q, in, me);
    const cco_span sum = me == q->root ? cco_share(s, q, out, me) : cco_scratch(s, part.n);
    cco_fold_into(s, got, sum);
    cco_round(s);
    for (int i = 0; i < p && me == q->root; i++)
        if (i != me)
            cco_recv(s, i, cco_share(s, q, out, i));
    if (me != q->root)
        cco_send(s, q->root, sum);
}

const cco_algo cco_reduce_exact = {
    .name = "exact",
    .doc = "all operands of a part on one rank; floating-point sums are rounded once",
    .folds = true,
    .build = reduce_exact_build,
};
