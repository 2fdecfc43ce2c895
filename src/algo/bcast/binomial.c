/* SPDX-License-Identifier: BSD-3-Clause */
/* bcast "binomial": a binomial tree from the root.
 *
 *   messages <= log2 p on a rank, p-1 in all   bytes sent n by each   scratch 0
 *
 * R. Thakur, R. Rabenseifner, W. Gropp: Optimization of collective communication operations in
 * MPICH, Int. J. High Perform. Comput. Appl. 19 (2005). */
#include "algo/algo.h"

static bool usable(const cco_problem *q)
{
    (void)q;
    return true;
}

static void build(cco_sched *s, const cco_problem *q)
{
    const int p = q->size, from_root = (q->rank - q->root + p) % p;
    const cco_span all = cco_whole(&q->out);
    int bit = 1;
    while (bit < p && !(from_root & bit))
        bit *= 2;
    if (from_root != 0)
        cco_recv(s, (q->rank - bit + p) % p, all);
    cco_round(s);
    for (bit /= 2; bit > 0; bit /= 2) /* the largest subtree first */
        if (from_root + bit < p)
            cco_send(s, (q->rank + bit) % p, all);
}

const cco_algo cco_bcast_binomial = {
    .name = "binomial",
    .doc = "a binomial tree from the root",
    .usable = usable,
    .build = build,
};
