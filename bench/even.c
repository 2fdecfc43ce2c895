/* SPDX-License-Identifier: BSD-3-Clause */
/* even.c - see even.h. */
#include "even.h"

#include <stdlib.h>

enum { NONE, ONE, ALL, ROOT_ONE, ROOT_ALL }; /* blocks that a side has, on which ranks */

typedef struct shape {
    int in, out;
} shape;

static shape shape_of(cco_coll coll)
{
    switch (coll) {
    case CCO_BARRIER:
        return (shape){NONE, NONE};
    case CCO_BCAST:
        return (shape){NONE, ONE};
    case CCO_GATHER:
    case CCO_GATHERV:
        return (shape){ONE, ROOT_ALL};
    case CCO_SCATTER:
    case CCO_SCATTERV:
        return (shape){ROOT_ALL, ONE};
    case CCO_REDUCE:
        return (shape){ONE, ROOT_ONE};
    case CCO_ALLGATHER:
    case CCO_ALLGATHERV:
        return (shape){ONE, ALL};
    case CCO_REDUCE_SCATTER:
    case CCO_REDUCE_SCATTER_BLOCK:
        return (shape){ALL, ONE};
    case CCO_ALLTOALL:
    case CCO_ALLTOALLV:
    case CCO_ALLTOALLW:
        return (shape){ALL, ALL};
    default: /* the reductions of whole vectors */
        return (shape){ONE, ONE};
    }
}

static int blocks_of(int shape, const even *e, int rank)
{
    const bool here = shape < ROOT_ONE || rank == e->root;
    return shape == NONE || !here ? 0 : shape == ALL || shape == ROOT_ALL ? e->size : 1;
}

static bool cut_vector(even *e)
{
    const size_t units = e->bytes / EVEN_ELEMENT, p = (size_t)e->size;
    ptrdiff_t next = 0;
    e->n = calloc(p, sizeof *e->n);
    e->at = calloc(p, sizeof *e->at);
    for (size_t i = 0; e->n != NULL && e->at != NULL && i < p; i++) {
        e->n[i] = (units / p + (i < units % p)) * EVEN_ELEMENT;
        e->at[i] = next;
        next += (ptrdiff_t)e->n[i];
    }
    return e->n != NULL && e->at != NULL;
}

bool even_begin(even *e, cco_coll coll, int size, int root, size_t bytes)
{
    const bool reduces = cco_coll_infos[coll].properties & CCO_REDUCTION;
    const size_t element = reduces ? EVEN_ELEMENT : 1;
    *e = (even){.coll = coll, .size = size, .root = root};
    e->bytes = coll == CCO_BARRIER ? 0 : (bytes + element - 1) / element * element;
    for (int base = 0; base < CCO_BASES; base++)
        e->layouts[base] = (cco_layout){
            .size = element, .extent = (ptrdiff_t)element, .dense = true};
    e->counts = calloc((size_t)size, sizeof *e->counts);
    for (int i = 0; e->counts != NULL && i < size; i++)
        e->counts[i] = e->bytes;
    return e->counts != NULL && (coll != CCO_REDUCE_SCATTER || cut_vector(e));
}

void even_end(even *e)
{
    free(e->n);
    free(e->at);
    free(e->counts);
}

/* The side of a reduce_scatter that has one block holds this rank's. */
static cco_side side_of(const even *e, cco_base base, int blocks, int rank)
{
    cco_side side = {.base = base, .blocks = blocks, .layout = (int)base};
    side.each = e->n == NULL ? e->bytes : e->n[rank];
    side.pitch = (ptrdiff_t)side.each;
    if (base == CCO_IN) {
        side.n = e->n;
        side.at = e->at;
    }
    return side;
}

cco_problem even_problem(const even *e, int rank)
{
    const shape shape = shape_of(e->coll);
    cco_problem q = {.coll = e->coll,
                     .rank = rank,
                     .size = e->size,
                     .root = e->root,
                     .commutative = true,
                     .unit = e->layouts[CCO_IN].size,
                     .layouts = e->layouts};
    q.bytes = cco_coll_infos[e->coll].properties & CCO_SIZED ? e->bytes : 0;
    q.in = side_of(e, CCO_IN, blocks_of(shape.in, e, rank), rank);
    q.out = side_of(e, CCO_OUT, blocks_of(shape.out, e, rank), rank);
    return q;
}

size_t even_memory(const even *e, const cco_side *side)
{
    return side->n != NULL ? e->bytes : (size_t)side->blocks * side->each;
}
