/* SPDX-License-Identifier: BSD-3-Clause */
/* tree_blocks.c - see tree_blocks.h. */
#include "algo/pattern/tree_blocks.h"

#include "algo/pattern/blocks.h"
#include "algo/pattern/pack.h"
#include "algo/pattern/tree.h"

typedef void (*message)(cco_sched *, int peer, cco_span); /* cco_send or cco_recv */

/* The blocks of the places `first` to `end` - 1. */
static size_t pattern_tree_blocks_bytes_of(const cco_problem *q, int first, int end)
{
    size_t n = q->counts == NULL ? (size_t)(end - first) * q->bytes : 0;
    for (int i = first; i < end && q->counts != NULL; i++)
        n += q->counts[(q->root + i) % q->size];
    return n;
}

/* Their place in a span that holds the blocks from place `origin` on. */
static cco_span pattern_tree_blocks_of_places(cco_sched *s, const cco_problem *q, cco_span all,
                                              int origin, int first, int end)
{
    return cco_part(s, all, pattern_tree_blocks_bytes_of(q, origin, first),
                    pattern_tree_blocks_bytes_of(q, first, end));
}

/* Where the first of two messages between the root and a subtree ends: before rank 0. */
static int cut_of(const cco_problem *q, int first, int end)
{
    const int turn = q->size - q->root;
    if (q->counts != NULL || turn > end)
        return end;
    return turn > first ? turn : first;
}

/* The root without counts: its blocks stay in its buffer. */
static bool is_direct(const cco_problem *q)
{
    return q->rank == q->root && q->counts == NULL;
}

/* Messages with a child: blocks lie in `all`, which begins with that of this rank, or in `side`. */
static void with_child(cco_sched *s, const cco_problem *q, const cco_side *side, cco_span all,
                       int place, int child, message give)
{
    const int p = q->size, root = q->root, peer = (root + child) % p;
    const int end = cco_tree_end(child, p), cut = cut_of(q, child, end);
    if (is_direct(q)) {
        give(s, peer, cco_run(q, side, root + child, root + cut));
        give(s, peer, cco_run(q, side, root + cut - p, root + end - p));
    } else {
        give(s, peer, pattern_tree_blocks_of_places(s, q, all, place, child, end));
    }
}

/* Messages with the parent, of the whole subtree. */
static void with_parent(cco_sched *s, const cco_problem *q, cco_span all, int place, message give)
{
    const int p = q->size, reach = cco_tree_reach(place, p), peer = (q->rank - reach + p) % p;
    const int end = cco_tree_end(place, p), cut = peer == q->root ? cut_of(q, place, end) : end;
    give(s, peer, pattern_tree_blocks_of_places(s, q, all, place, place, cut));
    give(s, peer, pattern_tree_blocks_of_places(s, q, all, place, cut, end));
}

/* Room for the blocks of the subtree, unless there is only `mine`, or on the root `own`. */
static cco_span pattern_tree_blocks_room(cco_sched *s, const cco_problem *q, int place,
                                         cco_span mine, cco_span own)
{
    const int end = cco_tree_end(place, q->size);
    if (is_direct(q))
        return own;
    return end == place + 1 ? mine : cco_scratch(s, pattern_tree_blocks_bytes_of(q, place, end));
}

void cco_tree_gather(cco_sched *s, const cco_problem *q)
{
    const int p = q->size, place = cco_tree_place(q, q->root), end = cco_tree_end(place, p);
    const cco_span mine = cco_whole(&q->in);
    const cco_span all = pattern_tree_blocks_room(s, q, place, mine,
                                                  cco_block(q, &q->out, q->rank));
    cco_copy(s, mine, cco_part(s, all, 0, mine.n));
    for (int bit = 1; bit < end - place; bit *= 2)
        with_child(s, q, &q->out, all, place, place + bit, cco_recv);
    cco_round(s);
    if (place != 0)
        with_parent(s, q, all, place, cco_send);
    else if (q->counts != NULL)
        cco_unpack(s, q, &q->out, q->rank, p, all);
}

void cco_tree_scatter(cco_sched *s, const cco_problem *q)
{
    const int p = q->size, place = cco_tree_place(q, q->root), reach = cco_tree_reach(place, p);
    const cco_span mine = cco_whole(&q->out);
    const cco_span all = pattern_tree_blocks_room(s, q, place, mine, cco_block(q, &q->in, q->rank));
    if (place != 0)
        with_parent(s, q, all, place, cco_recv);
    else if (q->counts != NULL)
        cco_pack(s, q, &q->in, q->rank, p, all);
    cco_round(s);
    for (int bit = reach / 2; bit > 0; bit /= 2)
        if (bit < p - place)
            with_child(s, q, &q->in, all, place, place + bit, cco_send);
    cco_copy(s, place == 0 ? cco_block(q, &q->in, q->rank) : cco_part(s, all, 0, mine.n), mine);
}
