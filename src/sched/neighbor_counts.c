/* SPDX-License-Identifier: BSD-3-Clause */
/* neighbor_counts.c - see neighbor_counts.h. */
#include "sched/neighbor_counts.h"

#include <string.h>

#include "sched/neighbor_mates.h"

static void neighbor_counts_add(const cco_problem *q, const cco_side *side, const int *slot,
                                int degree, size_t *row)
{
    for (int i = 0; i < degree; i++)
        if (slot[i] != CCO_NO_PEER)
            row[slot[i]] += cco_block(q, side, i).n;
}

void cco_neighbor_row(const cco_problem *q, size_t *row)
{
    const cco_neighbor_mates *mates = q->near->mates;
    memset(row, 0, cco_neighbor_row_length(mates) * sizeof *row);
    neighbor_counts_add(q, &q->in, mates->out_slot, q->near->degrees.out, row);
    neighbor_counts_add(q, &q->out, mates->in_slot, q->near->degrees.in, row + mates->most);
}
