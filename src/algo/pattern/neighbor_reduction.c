/* SPDX-License-Identifier: BSD-3-Clause */
/* neighbor_reduction.c - see neighbor_reduction.h. */
#include "algo/pattern/neighbor_reduction.h"

/* The exchange without its operation: a block from each neighbor. */
static cco_problem movement_of(const cco_problem *q)
{
    cco_problem moves = *q;
    moves.coll = cco_coll_infos[q->coll].in == CCO_NEAR ? CCO_NEIGHBOR_ALLTOALL
                                                        : CCO_NEIGHBOR_ALLGATHER;
    return moves;
}

/* A block of scratch for each edge that ends here. */
static cco_side blocks_in_scratch(cco_sched *s, const cco_problem *q)
{
    const cco_layout *layout = &q->layouts[CCO_TMP];
    const int blocks = q->near->degrees.in;
    const cco_span room = cco_scratch(s, q->out.each * (size_t)blocks);
    return (cco_side){.base = CCO_TMP,
                      .blocks = blocks,
                      .layout = room.layout,
                      .start = room.at,
                      .each = q->out.each,
                      .pitch = (ptrdiff_t)(q->out.each / layout->size) * layout->extent};
}

/* Reduces from left to right, each into the next; returns the last one. */
static int pattern_neighbor_reduction_fold(cco_sched *s, const cco_problem *q, const cco_side *from)
{
    int last = CCO_NO_PEER;
    for (int i = 0; i < q->near->degrees.in; i++) {
        if (q->near->in[i] == CCO_NO_PEER)
            continue;
        if (last != CCO_NO_PEER) {
            cco_reduce(s, cco_block(q, from, last), cco_block(q, from, i));
            cco_round(s);
        }
        last = i;
    }
    return last;
}

void cco_neighbor_reduction(cco_sched *s, const cco_problem *q, const cco_algo *brings)
{
    cco_problem moves = movement_of(q);
    /* In place, what is sent lies where the result will, until all is sent. */
    if (q->near->degrees.in == 1 && q->in.base != CCO_OUT) {
        brings->build(s, &moves);
        return;
    }
    moves.out = blocks_in_scratch(s, q);
    brings->build(s, &moves);
    cco_round(s);
    const int last = pattern_neighbor_reduction_fold(s, q, &moves.out);
    if (last != CCO_NO_PEER)
        cco_copy(s, cco_block(&moves, &moves.out, last), cco_whole(&q->out));
}
