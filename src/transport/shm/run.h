/* SPDX-License-Identifier: BSD-3-Clause */
/* run.h - what flat.c and shares.c have in common: a call on its way over a board. */
#ifndef CCO_SHM_RUN_H
#define CCO_SHM_RUN_H

#include <string.h>

#include "core/collectives.h"
#include "transport/shm/flat.h"

typedef struct cco_run {
    cco_board *board;
    const cco_flat *plan;
    const cco_problem *q;
    const cco_binding *binding;
} cco_run;

static inline char *cco_run_place(const cco_run *r, cco_span span)
{
    return r->binding->base[span.base] + span.at;
}

/* What goes of a block in piece `k`: nothing beyond its end. */
static inline cco_span cco_run_part(const cco_run *r, cco_span block, uint64_t k)
{
    const size_t window = r->plan->window, at = k * window;
    block.n = block.n > at ? block.n - at : 0;
    block.n = block.n < window ? block.n : window;
    block.at += (ptrdiff_t)at;
    return block;
}

/* Pieces that a rank shows before the one that it needs itself. */
static inline uint64_t cco_run_ahead(const cco_run *r)
{
    return cco_pause_crowds() ? r->board->ring : 2;
}

/* to = from[first] op ... op from[last], in this order, so that every rank gets the same bits; `n`
 * bytes.  This rank's own operand may be where the result goes. */
int cco_run_fold(const cco_run *r, const char **from, int first, int last, char *to, size_t n);

/* Runs a reduction in shares.  MPI_SUCCESS or what an operation of the MPI returned. */
int cco_run_shares(const cco_run *r);

#endif
