/* SPDX-License-Identifier: BSD-3-Clause */
/* tree.c - see tree.h. */
#include "algo/pattern/tree.h"

#include "algo/pattern/combine.h"

int cco_tree_place(const cco_problem *q, int root)
{
    return (q->rank - root + q->size) % q->size;
}

int cco_tree_reach(int place, int p)
{
    int bit = 1;
    while (bit < p && !(place & bit))
        bit *= 2;
    return bit;
}

int cco_tree_end(int place, int p)
{
    const int reach = cco_tree_reach(place, p);
    return reach < p - place ? place + reach : p;
}

void cco_tree_bcast(cco_sched *s, const cco_problem *q, int root, cco_span all)
{
    const int p = q->size, place = cco_tree_place(q, root), reach = cco_tree_reach(place, p);
    cco_round(s);
    if (place != 0)
        cco_recv(s, (q->rank - reach + p) % p, all);
    cco_round(s);
    for (int bit = reach / 2; bit > 0; bit /= 2)
        if (bit < p - place)
            cco_send(s, (q->rank + bit) % p, all);
}

void cco_tree_reduce(cco_sched *s, const cco_problem *q, int root, cco_span in, cco_span sum,
                     cco_span got)
{
    const int p = q->size, place = cco_tree_place(q, root), reach = cco_tree_reach(place, p);
    const bool leaf = cco_tree_end(place, p) == place + 1;
    if (!leaf || place == 0)
        cco_copy(s, in, sum);
    for (int bit = 1; bit < reach && bit < p - place; bit *= 2) {
        cco_round(s);
        cco_recv(s, (q->rank + bit) % p, got);
        cco_combine(s, got, sum, q->commutative); /* children have the ranks that follow */
    }
    cco_round(s);
    if (place != 0)
        cco_send(s, (q->rank - reach + p) % p, leaf ? in : sum);
}
