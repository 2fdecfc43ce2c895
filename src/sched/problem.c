/* SPDX-License-Identifier: BSD-3-Clause */
/* problem.c - see problem.h. */
#include "sched/problem.h"

static int modulo(int i, int n)
{
    return (i % n + n) % n;
}

cco_span cco_block(const cco_problem *q, const cco_side *side, int i)
{
    const int k = modulo(i, q->size);
    return (cco_span){
        .base = side->base,
        .layout = side->layout,
        .at = side->at != NULL ? side->at[k] : side->start + k * side->pitch,
        .n = side->n != NULL ? side->n[k] : side->each,
    };
}

cco_span cco_whole(const cco_side *side)
{
    return (cco_span){
        .base = side->base, .layout = side->layout, .at = side->start, .n = side->each};
}

cco_span cco_cut(cco_sched *s, const cco_problem *q, cco_span span, int i, int parts)
{
    const size_t k = (size_t)modulo(i, parts), units = span.n / q->unit;
    const size_t each = units / (size_t)parts, more = units % (size_t)parts;
    const size_t first = k * each + (k < more ? k : more);
    return cco_part(s, span, first * q->unit, (each + (k < more)) * q->unit);
}
