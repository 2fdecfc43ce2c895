/* SPDX-License-Identifier: BSD-3-Clause */
/* bcast "scatter_allgather": binomial scatter of p parts, then ring allgather.
 *
 *   messages <= log2 p + p-1   bytes sent per rank <= 2n(p-1)/p, by the root   scratch 0
 *
 * For large n: each rank receives n bytes once.
 * R. Thakur, R. Rabenseifner, W. Gropp: Optimization of collective communication operations in
 * MPICH, Int. J. High Perform. Comput. Appl. 19 (2005). */
#include "algo/algo.h"

#include "algo/pattern/blocks.h"
#include "algo/pattern/tree.h"

/* A part that a place has from the scatter need not come again. */
static bool bcast_scatter_allgather_has(int p, int place, int part)
{
    return part >= place && part < cco_tree_end(place, p);
}

static void bcast_scatter_allgather_build(cco_sched *s, const cco_problem *q)
{
    const int p = q->size, place = cco_tree_place(q, q->root), reach = cco_tree_reach(place, p);
    const int next = (q->rank + 1) % p, prev = (q->rank + p - 1) % p;
    const cco_span all = cco_whole(&q->out);

    if (place != 0) /* scatter: a place gets the parts of its subtree */
        cco_recv(s, (q->rank - reach + p) % p,
                 cco_cuts(s, q, all, place, cco_tree_end(place, p), p));
    cco_round(s);
    for (int bit = reach / 2; bit > 0; bit /= 2)
        if (bit < p - place)
            cco_send(s, (q->rank + bit) % p,
                     cco_cuts(s, q, all, place + bit, cco_tree_end(place + bit, p), p));
    for (int k = 0; k < p - 1; k++) { /* allgather */
        const int give = (place - k + p) % p, get = (place - k - 1 + p) % p;
        cco_round(s);
        if (!bcast_scatter_allgather_has(p, (place + 1) % p, give))
            cco_send(s, next, cco_cut(s, q, all, give, p));
        if (!bcast_scatter_allgather_has(p, place, get))
            cco_recv(s, prev, cco_cut(s, q, all, get, p));
    }
}

const cco_algo cco_bcast_scatter_allgather = {
    .name = "scatter_allgather",
    .doc = "binomial scatter of p parts, then ring allgather",
    .build = bcast_scatter_allgather_build,
};
