/* SPDX-License-Identifier: BSD-3-Clause */
/* neighbor.h - what algorithms of neighborhood collectives share: edges, in the order in which
 * those between two ranks match (comm/neighbors.h). */
#ifndef CCO_PATTERN_NEAR_H
#define CCO_PATTERN_NEAR_H

#include "sched/problem.h"

/* What this rank gives to its k-th neighbor: a block of its own, or the one that all get. */
cco_span cco_neighbor_given(const cco_problem *q, int k);

/* Copies what this rank sends to itself. */
void cco_neighbor_loops(cco_sched *s, const cco_problem *q);

/* A message for each edge, all at once.  No limit on the messages in flight: ranks come to an edge
 * at different times, and in rounds they might wait for each other in a circle. */
void cco_neighbor_linear(cco_sched *s, const cco_problem *q);

/* Why an algorithm for stencils (comm/stencil.h) cannot do a problem. */
const char *cco_neighbor_stencil_refuses(const cco_problem *q);

/* Edges between this rank and one other, in the order in which they match. */
typedef struct cco_neighbor_edges {
    int peer, count;
    const int *blocks; /* of this rank, in that order */
} cco_neighbor_edges;

/* All that end here, or begin if `given`, but those without a peer and loops: by peer, from the
 * rank behind this one on.  NULL without memory, which is an error of the schedule; else the list
 * ends with a count of 0. */
const cco_neighbor_edges *cco_neighbor_by_peer(cco_sched *s, const cco_problem *q, bool given);

#endif
