/* SPDX-License-Identifier: BSD-3-Clause */
/* allgather.h - allgather and allgatherv with several blocks in a message.
 *
 * Displaced blocks (allgatherv) are gathered in scratch, one after the other, and copied to their
 * places at the end: one message for a run of blocks. */
#ifndef CCO_PATTERN_ALLGATHER_H
#define CCO_PATTERN_ALLGATHER_H

#include "sched/problem.h"

/* In round j, get the blocks of the `radix` - 1 runs of ranks radix^j, 2 radix^j, ... after. */
void cco_bruck_allgather(cco_sched *s, const cco_problem *q, long radix);

/* Exchange everything with the rank 2^k away, over the hypercube of cube.h. */
void cco_doubling_allgather(cco_sched *s, const cco_problem *q);

/* Pairs of blocks go both ways between neighbors.  An even number of ranks. */
void cco_neighbor_allgather(cco_sched *s, const cco_problem *q);

#endif
