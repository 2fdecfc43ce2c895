/* SPDX-License-Identifier: BSD-3-Clause */
/* neighbor_counts.h - what a leader has to know of the blocks of its node's ranks in a neighborhood
 * collective (cco_problem.counts): bytes to, and from, each rank of another node. */
#ifndef CCO_NEIGHBOR_COUNTS_H
#define CCO_NEIGHBOR_COUNTS_H

#include "sched/problem.h"

/* Fills the row of this rank: what it gives in each of its slots (neighbor_mates.h), then what it
 * gets. Its length is that of its node's mates. */
void cco_neighbor_row(const cco_problem *q, size_t *row);

#endif
