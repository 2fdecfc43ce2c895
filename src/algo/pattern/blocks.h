/* SPDX-License-Identifier: BSD-3-Clause */
/* blocks.h - runs of blocks, and pieces of spans. */
#ifndef CCO_BLOCKS_H
#define CCO_BLOCKS_H

#include "sched/problem.h"

/* The blocks of the ranks `first` to `end` - 1, counted modulo the number of ranks, as one span.
 * For sides whose blocks lie one after the other: without displacements, or what a reduce_scatter
 * reduces. */
cco_span cco_run(const cco_problem *q, const cco_side *side, int first, int end);

/* The place of these blocks in a span that holds all blocks of the side, one after the other. */
cco_span cco_run_within(cco_sched *s, const cco_problem *q, const cco_side *side, cco_span all,
                        int first, int end);

/* The parts `first` to `end` - 1 that cco_cut makes, as one span. */
cco_span cco_cuts(cco_sched *s, const cco_problem *q, cco_span span, int first, int end, int parts);

/* Pieces of `each` bytes, rounded down to units but never to 0; the last one is what is left. */
size_t cco_pieces(const cco_problem *q, size_t n, long each);
cco_span cco_piece(cco_sched *s, const cco_problem *q, cco_span span, size_t i, long each);

#endif
