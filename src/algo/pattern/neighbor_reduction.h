/* SPDX-License-Identifier: BSD-3-Clause */
/* neighbor_reduction.h - a reduction of what neighbors send, after any algorithm that brings it. */
#ifndef CCO_PATTERN_NEAR_REDUCTION_H
#define CCO_PATTERN_NEAR_REDUCTION_H

#include "algo/algo.h"

/* Lets `brings`, an algorithm of neighbor_allgather or neighbor_alltoall, bring the vectors of all
 * sources to scratch, and reduces them in the order of the list of sources, from the left.  What
 * nobody sends is left out; where there is no source at all, nothing is written. */
void cco_neighbor_reduction(cco_sched *s, const cco_problem *q, const cco_algo *brings);

#endif
