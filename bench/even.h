/* SPDX-License-Identifier: BSD-3-Clause */
/* even.h - the plain problem of a collective: dense bytes, blocks as even as can be, operations
 * that commute.  Enough to build the schedules of all ranks and to count what they do. */
#ifndef BENCH_EVEN_H
#define BENCH_EVEN_H

#include "sched/problem.h"

enum { EVEN_ELEMENT = 8 }; /* bytes of what is reduced */

typedef struct even {
    cco_coll coll;
    int size, root;
    size_t bytes; /* as in call/call.h; uneven collectives: each block */
    cco_layout layouts[CCO_BASES];
    size_t *n; /* bytes of the blocks where they differ (reduce_scatter), else NULL */
    ptrdiff_t *at;
    const cco_neighbors *near; /* of all ranks, in neighbourhood collectives: the caller's */
    size_t *counts;            /* for even_counts */
    size_t room;               /* for so many of these */
} even;

/* False when memory runs out.  Bytes are rounded up to elements, and to 0 for a barrier. */
bool even_begin(even *e, cco_coll coll, int size, int root, size_t bytes);
void even_end(even *e);

cco_problem even_problem(const even *e, int rank);

/* cco_problem.counts of a rank, whose `near` has what its node knows; NULL when memory runs out. */
const size_t *even_counts(even *e, const cco_problem *q);

/* Memory of a side's buffer. */
size_t even_memory(const even *e, const cco_side *side);

#endif
