/* SPDX-License-Identifier: BSD-3-Clause */
/* barrier "tree": tell the root of a binomial tree, then hear from it.
 *
 *   messages 2(p-1) in all, in 2 ceil(log2 p) steps   bytes sent as many   scratch log2 p + 1
 *
 * Half the messages of the dissemination barrier, in twice the rounds. */
#include "algo/algo.h"

#include "algo/pattern/tree.h"

static void barrier_tree_build(cco_sched *s, const cco_problem *q)
{
    const int p = q->size, place = cco_tree_place(q, 0), reach = cco_tree_reach(place, p);
    const cco_span told = cco_scratch(s, 1);
    for (int bit = 1; bit < reach && bit < p - place; bit *= 2)
        cco_recv(s, place + bit, cco_scratch(s, 1));
    cco_round(s);
    if (place != 0)
        cco_send(s, place - reach, told);
    cco_tree_bcast(s, q, 0, told);
}

const cco_algo cco_barrier_tree = {
    .name = "tree",
    .doc = "tell the root of a binomial tree, then hear from it",
    .build = barrier_tree_build,
};
