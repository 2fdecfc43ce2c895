/* SPDX-License-Identifier: BSD-3-Clause */
/* reduce "binomial": a binomial tree to the root.
 *
 *   messages 1   bytes sent per rank n   scratch 2n on inner ranks, n on the root   operation: any
 *
 * In the order of ranks if the operation does not commute: then by way of rank 0.
 * R. Thakur, R. Rabenseifner, W. Gropp: Optimization of collective communication operations in
 * MPICH, Int. J. High Perform. Comput. Appl. 19 (2005). */
#include "algo/algo.h"

#include "algo/pattern/tree.h"

static void reduce_binomial_build(cco_sched *s, const cco_problem *q)
{
    const bool root = q->rank == q->root;
    const int top = q->commutative ? q->root : 0, place = cco_tree_place(q, top);
    const bool leaf = place != 0 && cco_tree_end(place, q->size) == place + 1;
    const cco_span in = cco_whole(&q->in);
    const cco_span sum = root ? cco_whole(&q->out) : cco_scratch(s, leaf ? 0 : in.n);

    cco_tree_reduce(s, q, top, in, sum, cco_scratch(s, leaf ? 0 : in.n));
    cco_round(s);
    if (top != q->root && place == 0)
        cco_send(s, q->root, sum);
    if (top != q->root && root)
        cco_recv(s, top, sum);
}

const cco_algo cco_reduce_binomial = {
    .name = "binomial",
    .doc = "a binomial tree to the root",
    .build = reduce_binomial_build,
};
