/* SPDX-License-Identifier: BSD-3-Clause */
/* definition.c - the data that ranks give, and what the MPI standard says must come out. */
#include <stdio.h>
#include <string.h>

#include "world.h"

/* Element `e` of the block that `from` has for `to`. */
static void value(const world *w, int from, int to, size_t e, unsigned char *bytes)
{
    uint32_t x = w->c.seed * 2654435761u + (uint32_t)from * 97u + (uint32_t)to * 7919u +
                 (uint32_t)e * 104729u;
    for (size_t i = 0; i < w->element; i++) {
        x = (x ^ x >> 15) * 2246822519u + (uint32_t)i;
        bytes[i] = (unsigned char)(x >> 11);
    }
}

void world_fill_block(world *w, int rank, cco_span span, int to)
{
    cco_memory *memory = &w->sim.ranks[rank].memory[span.base];
    const ptrdiff_t extent = w->layouts[span.layout].extent;
    for (size_t e = 0; e < span.n / w->element; e++) {
        const ptrdiff_t at = span.at + (ptrdiff_t)e * extent;
        value(w, rank, to, e, memory->data + at);
        memset(memory->written + at, 1, w->element);
    }
}

/* The reduction of the elements that ranks `first` to `last` give to block `to`. */
static void folded(const world *w, int first, int last, int to, size_t e, unsigned char *bytes)
{
    unsigned char left[WORLD_ELEMENT];
    value(w, last, to, e, bytes);
    for (int i = last - 1; i >= first; i--) {
        value(w, i, to, e, left);
        w->sim.reduce(left, bytes, w->element);
    }
}

/* The block that a rank gives to all neighbours, or to one. */
static void from_neighbor(const world *w, int rank, int i, size_t e, unsigned char *bytes)
{
    const struct graph_ends *in = &w->graph.in[rank];
    const bool all = cco_coll_infos[w->c.coll].in == CCO_ONE;
    value(w, in->peer[i], all ? 0 : in->slot[i], e, bytes);
}

/* The reduction of what the neighbours give, in the order of the list of sources. */
static void folded_from_neighbors(const world *w, int rank, size_t e, unsigned char *bytes)
{
    const struct graph_ends *in = &w->graph.in[rank];
    unsigned char left[WORLD_ELEMENT];
    bool any = false;
    for (int i = in->count - 1; i >= 0; i--) {
        if (in->peer[i] == GRAPH_NOBODY)
            continue;
        from_neighbor(w, rank, i, e, any ? left : bytes);
        if (any)
            w->sim.reduce(left, bytes, w->element);
        any = true;
    }
}

/* What the standard says element `e` of block `i` of the receive buffer is. */
static void expected(const world *w, int rank, int i, size_t e, unsigned char *bytes)
{
    const int p = w->c.p;
    if (cco_is_neighbor(w->c.coll) && cco_coll_infos[w->c.coll].out == CCO_ONE) {
        folded_from_neighbors(w, rank, e, bytes);
        return;
    }
    if (cco_is_neighbor(w->c.coll)) {
        from_neighbor(w, rank, i, e, bytes);
        return;
    }
    switch (w->c.coll) {
    case CCO_BCAST:
        value(w, w->c.root, 0, e, bytes);
        break;
    case CCO_SCATTER:
    case CCO_SCATTERV:
        value(w, w->c.root, rank, e, bytes);
        break;
    case CCO_GATHER:
    case CCO_GATHERV:
    case CCO_ALLGATHER:
    case CCO_ALLGATHERV:
        value(w, i, 0, e, bytes);
        break;
    case CCO_ALLTOALL:
    case CCO_ALLTOALLV:
    case CCO_ALLTOALLW:
        value(w, i, rank, e, bytes);
        break;
    case CCO_SCAN:
        folded(w, 0, rank, 0, e, bytes);
        break;
    case CCO_EXSCAN:
        folded(w, 0, rank - 1, 0, e, bytes);
        break;
    case CCO_REDUCE_SCATTER:
    case CCO_REDUCE_SCATTER_BLOCK:
        folded(w, 0, p - 1, rank, e, bytes);
        break;
    default:
        folded(w, 0, p - 1, 0, e, bytes);
        break;
    }
}

static bool check_block(world *w, int rank, cco_span span, int i)
{
    const cco_memory *memory = &w->sim.ranks[rank].memory[span.base];
    const ptrdiff_t extent = w->layouts[span.layout].extent;
    unsigned char bytes[WORLD_ELEMENT];
    for (size_t e = 0; e < span.n / w->element; e++) {
        const ptrdiff_t at = span.at + (ptrdiff_t)e * extent;
        expected(w, rank, i, e, bytes);
        if (memcmp(memory->data + at, bytes, w->element) != 0) {
            snprintf(w->sim.why, sizeof w->sim.why, "rank %d: element %zu of block %d is wrong",
                     rank, e, i);
            return false;
        }
    }
    return true;
}

/* Gaps, and all that nobody may write, are as they were. */
static bool check_untouched(world *w, int rank, cco_base base)
{
    const cco_memory *memory = &w->sim.ranks[rank].memory[base];
    for (size_t at = 0; at < memory->size; at++)
        if (!memory->written[at] && memory->data[at] != WORLD_UNTOUCHED) {
            snprintf(w->sim.why, sizeof w->sim.why, "rank %d: byte %zu was written", rank, at);
            return false;
        }
    return true;
}

/* A block of MPI_PROC_NULL stays as it is, which check_untouched sees. */
static bool is_nobodys(const world *w, int rank, int i)
{
    return cco_coll_infos[w->c.coll].out == CCO_NEAR && w->graph.in[rank].peer[i] == GRAPH_NOBODY;
}

static bool check_barrier(world *w, int rank)
{
    for (int i = 0; i < w->c.p; i++)
        if (!(w->sim.ranks[rank].heard[i / 64] >> i % 64 & 1)) {
            snprintf(w->sim.why, sizeof w->sim.why, "rank %d leaves before rank %d came", rank, i);
            return false;
        }
    return true;
}

/* In place it is what it was only where nothing is received. */
static bool check_in(world *w, int rank)
{
    const cco_problem *q = &w->problems[rank];
    const bool stays = q->in.base == CCO_IN || q->out.blocks == 0;
    unsigned char bytes[WORLD_ELEMENT];
    for (int to = 0; stays && to < q->in.blocks; to++) {
        const cco_span span = cco_block(q, &q->in, to);
        const unsigned char *at = w->sim.ranks[rank].memory[span.base].data + span.at;
        for (size_t e = 0; e < span.n / w->element; e++, at += w->layouts[span.layout].extent) {
            value(w, rank, to, e, bytes);
            if (memcmp(at, bytes, w->element) != 0) {
                snprintf(w->sim.why, sizeof w->sim.why, "rank %d: its send buffer changed", rank);
                return false;
            }
        }
    }
    return true;
}

bool world_check(world *w)
{
    for (int rank = 0; rank < w->c.p; rank++) {
        const cco_problem *q = &w->problems[rank];
        if (w->c.coll == CCO_BARRIER && !check_barrier(w, rank))
            return false;
        if (!check_in(w, rank) || !check_untouched(w, rank, CCO_OUT))
            return false;
        if (w->c.coll == CCO_EXSCAN && rank == 0)
            continue;
        for (int i = 0; i < q->out.blocks; i++)
            if (!is_nobodys(w, rank, i) && !check_block(w, rank, cco_block(q, &q->out, i), i))
                return false;
    }
    return true;
}
