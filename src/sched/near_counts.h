/* SPDX-License-Identifier: BSD-3-Clause */
/* near_counts.h - what a leader has to know of the blocks of its node's ranks in a neighbourhood
 * collective (cco_problem.counts): bytes to, and from, each rank of another node. */
#ifndef CCO_NEAR_COUNTS_H
#define CCO_NEAR_COUNTS_H

#include "sched/problem.h"

/* Fills the row of this rank: what it gives in each of its slots (near_mates.h), then what it gets.
 * Its length is that of its node's mates. */
void cco_near_row(const cco_problem *q, size_t *row);

#endif
