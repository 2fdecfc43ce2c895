/* SPDX-License-Identifier: BSD-3-Clause */
/* gather "binomial": a binomial tree to the root.
 *
 *   messages p-1 (or p) in all, in ceil(log2 p) steps
 *   bytes sent per rank <= np/2   scratch <= np/2
 *
 * Few rounds, for small n.
 * R. Thakur, R. Rabenseifner, W. Gropp: Optimization of collective communication operations in
 * MPICH, Int. J. High Perform. Comput. Appl. 19 (2005). */
#include "algo/algo.h"

#include "algo/pattern/blocks.h"
#include "algo/pattern/tree.h"

static bool usable(const cco_problem *q)
{
    (void)q;
    return true;
}

/* Ranks go round: the root takes a subtree across the last rank in two messages. */
static void root_takes(cco_sched *s, const cco_problem *q, int first, int end)
{
    const int p = q->size, turn = p - q->root, peer = (q->root + first) % p;
    if (first < turn)
        cco_recv(s, peer, cco_run(q, &q->out, q->root + first, end < turn ? q->root + end : p));
    if (end > turn)
        cco_recv(s, peer, cco_run(q, &q->out, first < turn ? 0 : first - turn, end - turn));
}

static void root_gets(cco_sched *s, const cco_problem *q, int first, int end, cco_span all)
{
    const int turn = q->size - q->root;
    const int cut = first < turn && turn < end ? turn - first : 0;
    const size_t before = (size_t)cut * q->bytes;
    cco_send(s, q->root, cco_part(s, all, 0, before));
    cco_send(s, q->root, cco_part(s, all, before, all.n - before));
}

static void build(cco_sched *s, const cco_problem *q)
{
    const int p = q->size, place = cco_tree_place(q, q->root), end = cco_tree_end(place, p);
    const int reach = cco_tree_reach(place, p);
    const bool leaf = end == place + 1;
    const cco_span mine = cco_whole(&q->in);
    if (place == 0) {
        cco_copy(s, mine, cco_block(q, &q->out, q->rank));
        for (int bit = 1; bit < p; bit *= 2)
            root_takes(s, q, bit, cco_tree_end(bit, p));
        return;
    }
    const cco_span all = leaf ? mine : cco_scratch(s, (size_t)(end - place) * q->bytes);
    cco_copy(s, mine, cco_part(s, all, 0, q->bytes));
    for (int bit = 1; bit < reach && bit < p - place; bit *= 2) {
        const size_t n = (size_t)(cco_tree_end(place + bit, p) - place - bit) * q->bytes;
        cco_recv(s, (q->rank + bit) % p, cco_part(s, all, (size_t)bit * q->bytes, n));
    }
    cco_round(s);
    if (reach == place)
        root_gets(s, q, place, end, all);
    else
        cco_send(s, (q->rank - reach + p) % p, all);
}

const cco_algo cco_gather_binomial = {
    .name = "binomial",
    .doc = "a binomial tree to the root",
    .usable = usable,
    .build = build,
};
