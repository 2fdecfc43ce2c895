/* SPDX-License-Identifier: BSD-3-Clause */
/* problem.c - see problem.h. */
#include "sched/problem.h"

#include "sched/neighbor_mates.h"

static int problem_modulo(int i, int n)
{
    return (i % n + n) % n;
}

cco_span cco_block(const cco_problem *q, const cco_side *side, int i)
{
    const int k = q->near != NULL ? i : problem_modulo(i, q->size);
    return (cco_span){
        .base = side->base,
        .layout = side->layout,
        .at = side->at != NULL ? side->at[k] : side->start + k * side->pitch,
        .n = side->n != NULL ? side->n[k] : side->each,
    };
}

int cco_most_blocks(const cco_problem *q)
{
    int most = q->size;
    if (q->near != NULL && q->near->degrees.in > most)
        most = q->near->degrees.in;
    if (q->near != NULL && q->near->degrees.out > most)
        most = q->near->degrees.out;
    return most;
}

cco_span cco_whole(const cco_side *side)
{
    return (cco_span){
        .base = side->base, .layout = side->layout, .at = side->start, .n = side->each};
}

size_t cco_count_of_counts(const cco_problem *q)
{
    const size_t p = (size_t)q->size;
    const cco_node_map *map = q->nodes;
    if (cco_coll_infos[q->coll].properties & CCO_ROOTED)
        return p;
    const bool leads = map != NULL && map->place[q->rank] == 0;
    const size_t row = q->near != NULL ? cco_neighbor_row_length(q->near->mates) : 2 * p;
    return row * (size_t)(leads ? cco_node_ranks(map, map->node[q->rank]) : 1);
}

size_t cco_cut_start(const cco_problem *q, cco_span span, int i, int parts)
{
    const size_t k = (size_t)i, units = span.n / q->unit;
    const size_t each = units / (size_t)parts, more = units % (size_t)parts;
    return (k * each + (k < more ? k : more)) * q->unit;
}

cco_span cco_cut(cco_sched *s, const cco_problem *q, cco_span span, int i, int parts)
{
    const int k = problem_modulo(i, parts);
    const size_t first = cco_cut_start(q, span, k, parts);
    return cco_part(s, span, first, cco_cut_start(q, span, k + 1, parts) - first);
}
