/* SPDX-License-Identifier: BSD-3-Clause */
/* near_counts.c - see near_counts.h. */
#include "sched/near_counts.h"

#include <string.h>

#include "sched/near_mates.h"

static void add(const cco_problem *q, const cco_side *side, const int *slot, int degree,
                size_t *row)
{
    for (int i = 0; i < degree; i++)
        if (slot[i] != CCO_NO_PEER)
            row[slot[i]] += cco_block(q, side, i).n;
}

void cco_near_row(const cco_problem *q, size_t *row)
{
    const cco_near_mates *mates = q->near->mates;
    memset(row, 0, cco_near_row_length(mates) * sizeof *row);
    add(q, &q->in, mates->out_slot, q->near->degrees.out, row);
    add(q, &q->out, mates->in_slot, q->near->degrees.in, row + mates->most);
}
