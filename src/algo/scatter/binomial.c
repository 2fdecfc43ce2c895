/* SPDX-License-Identifier: BSD-3-Clause */
/* scatter "binomial": a binomial tree from the root.
 *
 *   messages p-1 (or p) in all, in ceil(log2 p) steps
 *   bytes sent per rank <= n(p-1)   scratch <= np/2
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

/* Ranks go round: the root gives a subtree across the last rank in two messages. */
static void root_gives(cco_sched *s, const cco_problem *q, int first, int end)
{
    const int peer = (q->root + first) % q->size, turn = cco_tree_turn(q, q->root, first, end);
    cco_send(s, peer, cco_run(q, &q->in, q->root + first, q->root + turn));
    cco_send(s, peer, cco_run(q, &q->in, q->root + turn, q->root + end));
}

static void from_root(cco_sched *s, const cco_problem *q, int first, int end, cco_span all)
{
    const int turn = cco_tree_turn(q, q->root, first, end);
    const size_t before = (size_t)(turn - first) * q->bytes;
    cco_recv(s, q->root, cco_part(s, all, 0, before));
    cco_recv(s, q->root, cco_part(s, all, before, all.n - before));
}

static void build(cco_sched *s, const cco_problem *q)
{
    const int p = q->size, place = cco_tree_place(q, q->root), end = cco_tree_end(place, p);
    const int reach = cco_tree_reach(place, p);
    const bool root = place == 0, leaf = end == place + 1;
    const cco_span mine = cco_whole(&q->out);
    const cco_span all = leaf || root ? mine : cco_scratch(s, (size_t)(end - place) * q->bytes);
    if (reach == place)
        from_root(s, q, place, end, all);
    else if (!root)
        cco_recv(s, (q->rank - reach + p) % p, all);
    cco_round(s);
    for (int bit = reach / 2; bit > 0; bit /= 2) {
        if (bit >= p - place)
            continue;
        const int child_end = cco_tree_end(place + bit, p);
        const size_t n = (size_t)(child_end - place - bit) * q->bytes;
        if (root)
            root_gives(s, q, bit, child_end);
        else
            cco_send(s, (q->rank + bit) % p, cco_part(s, all, (size_t)bit * q->bytes, n));
    }
    cco_copy(s, root ? cco_block(q, &q->in, q->rank) : cco_part(s, all, 0, q->bytes), mine);
}

const cco_algo cco_scatter_binomial = {
    .name = "binomial",
    .doc = "a binomial tree from the root",
    .usable = usable,
    .build = build,
};
