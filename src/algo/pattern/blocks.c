/* SPDX-License-Identifier: BSD-3-Clause */
/* blocks.c - see blocks.h. */
#include "algo/pattern/blocks.h"

cco_span cco_run(const cco_problem *q, const cco_side *side, int first, int end)
{
    cco_span run = cco_block(q, side, first);
    run.n = side->n == NULL ? (size_t)(end - first) * side->each : 0;
    for (int i = first; i < end && side->n != NULL; i++)
        run.n += cco_block(q, side, i).n;
    return run;
}

cco_span cco_run_within(cco_sched *s, const cco_problem *q, const cco_side *side, cco_span all,
                        int first, int end)
{
    return cco_part(s, all, cco_run(q, side, 0, first).n, cco_run(q, side, first, end).n);
}

cco_span cco_cuts(cco_sched *s, const cco_problem *q, cco_span span, int first, int end, int parts)
{
    const size_t before = cco_cut_start(q, span, first, parts);
    return cco_part(s, span, before, cco_cut_start(q, span, end, parts) - before);
}

static size_t piece_size(const cco_problem *q, long each)
{
    const size_t units = (size_t)each / q->unit;
    return units > 0 ? units * q->unit : q->unit;
}

size_t cco_pieces(const cco_problem *q, size_t n, long each)
{
    const size_t size = piece_size(q, each);
    return n / size + (n % size != 0);
}

cco_span cco_piece(cco_sched *s, const cco_problem *q, cco_span span, size_t i, long each)
{
    const size_t size = piece_size(q, each), from = i * size;
    return cco_part(s, span, from, span.n - from < size ? span.n - from : size);
}
