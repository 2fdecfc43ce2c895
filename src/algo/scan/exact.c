/* SPDX-License-Identifier: BSD-3-Clause */
/* exscan, scan "exact": every rank gets all operands of its part, combines those of each prefix at
 * once, and tells each rank its own.
 *
 *   messages 2(p-1), little data ceil(log2 p)   bytes sent per rank 2n(p-1)/p, n(p-1)
 *   scratch 2n, np   reduces per rank about np/2   operation: any
 *
 * Sums of floating-point numbers are rounded once: the bits of a rank depend on the operands of the
 * ranks up to it, not on their order. */
#include "algo/algo.h"

#include "algo/pattern/contributions.h"

/* How many of the operands a rank's result has. */
static size_t scan_exact_prefix_of(const cco_problem *q, int rank)
{
    return (size_t)rank + (q->coll == CCO_SCAN);
}

static void fold_prefix(cco_sched *s, const cco_problem *q, cco_span operands, int rank,
                        cco_span into)
{
    cco_fold_into(s, cco_part(s, operands, 0, scan_exact_prefix_of(q, rank) * into.n), into);
}

static void scan_exact_build(cco_sched *s, const cco_problem *q)
{
    enum { WINDOW = 32 };
    const int p = q->size, me = q->rank;
    const cco_span in = cco_whole(&q->in), out = cco_whole(&q->out);
    if (cco_all_contribute(q, in.n)) {
        fold_prefix(s, q, cco_contributions(s, q, in), me, out);
        return;
    }
    const cco_span got = cco_contributed_share(s, q, in);
    const size_t n = cco_share(s, q, in, me).n;
    const cco_span sums = cco_scratch(s, (size_t)p * n);
    for (int i = 0; i < p; i++)
        fold_prefix(s, q, got, i, cco_part(s, sums, (size_t)i * n, n));
    cco_round(s);
    if (scan_exact_prefix_of(q, me) > 0)
        cco_copy(s, cco_part(s, sums, (size_t)me * n, n), cco_share(s, q, out, me));
    for (int k = 1; k < p; k++) {
        const int to = (me + k) % p, from = (me - k + p) % p;
        if (k % WINDOW == 0)
            cco_round(s);
        if (scan_exact_prefix_of(q, me) > 0)
            cco_recv(s, from, cco_share(s, q, out, from));
        if (scan_exact_prefix_of(q, to) > 0)
            cco_send(s, to, cco_part(s, sums, (size_t)to * n, n));
    }
}

const cco_algo cco_scan_exact = {
    .name = "exact",
    .doc = "all operands of a part on one rank; floating-point sums are rounded once",
    .folds = true,
    .build = scan_exact_build,
};
