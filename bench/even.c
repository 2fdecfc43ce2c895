/* SPDX-License-Identifier: BSD-3-Clause */
/* even.c - see even.h. */
#include "even.h"

#include <stdlib.h>

#include "sched/neighbor_counts.h"
#include "sched/neighbor_mates.h"

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
    const cco_coll_info *info = &cco_coll_infos[coll];
    const bool reduces = info->properties & CCO_REDUCTION;
    const bool cuts = reduces && info->properties & CCO_COUNTS;
    const size_t element = reduces ? EVEN_ELEMENT : 1;
    *e = (even){.coll = coll, .size = size, .root = root};
    e->bytes = info->out == CCO_NONE ? 0 : (bytes + element - 1) / element * element;
    for (int base = 0; base < CCO_BASES; base++)
        e->layouts[base] = (cco_layout){
            .size = element, .extent = (ptrdiff_t)element, .dense = true};
    const size_t counts = (size_t)size *
                          (coll == CCO_ALLTOALLV || coll == CCO_ALLTOALLW ? 2 * (size_t)size : 1);
    e->room = counts;
    e->counts = calloc(counts, sizeof *e->counts);
    for (size_t i = 0; e->counts != NULL && i < counts; i++)
        e->counts[i] = e->bytes;
    return e->counts != NULL && (!cuts || cut_vector(e));
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
    const cco_coll_info *info = &cco_coll_infos[e->coll];
    const bool root = rank == e->root;
    cco_problem q = {.coll = e->coll,
                     .rank = rank,
                     .size = e->size,
                     .root = e->root,
                     .commutative = true,
                     .unit = e->layouts[CCO_IN].size,
                     .layouts = e->layouts};
    q.bytes = info->properties & CCO_SIZED ? e->bytes : 0;
    q.near = e->near != NULL ? &e->near[rank] : NULL;
    const cco_degrees d = q.near != NULL ? q.near->degrees : (cco_degrees){0, 0};
    const int in = info->in == CCO_NEAR ? d.out : cco_blocks(info->in, root, e->size);
    const int out = info->out == CCO_NEAR ? d.in : cco_blocks(info->out, root, e->size);
    q.in = side_of(e, CCO_IN, in, rank);
    q.out = side_of(e, CCO_OUT, out, rank);
    return q;
}

/* Those of neighbours: the leader of a node has the rows of its ranks. */
static void fill_rows(even *e, const cco_problem *q)
{
    const cco_node_map *map = q->nodes;
    const int node = map->node[q->rank],
              ranks = map->place[q->rank] == 0 ? cco_node_ranks(map, node) : 1;
    for (int i = 0; i < ranks; i++) {
        cco_problem one = even_problem(e, ranks == 1 ? q->rank : cco_node_rank(map, node, i));
        one.nodes = map;
        cco_neighbor_row(&one, e->counts + (size_t)i * cco_neighbor_row_length(q->near->mates));
    }
}

const size_t *even_counts(even *e, const cco_problem *q)
{
    if (q->near == NULL)
        return e->counts;
    const size_t needed = cco_count_of_counts(q) + 1;
    if (needed > e->room) {
        free(e->counts);
        e->room = needed;
        e->counts = malloc(needed * sizeof *e->counts);
    }
    if (e->counts != NULL)
        fill_rows(e, q);
    return e->counts;
}

size_t even_memory(const even *e, const cco_side *side)
{
    return side->n != NULL ? e->bytes : (size_t)side->blocks * side->each;
}
