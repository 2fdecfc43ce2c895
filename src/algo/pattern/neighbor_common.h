/* SPDX-License-Identifier: BSD-3-Clause */
/* neighbor_common.h - alltoalls of neighbors: the edges between two ranks as one message, if what
 * goes over them is short.
 *
 * Both ranks know the blocks between them, and so whether these are more than `most` bytes, which
 * go as messages of their own: copying them would take longer, and Open MPI sends messages of a
 * node at once that fit into 4 KiB with their header; others take three times as long.  Nobody else
 * need know. */
#ifndef CCO_PATTERN_NEAR_COMMON_H
#define CCO_PATTERN_NEAR_COMMON_H

#include "algo/pattern/neighbor.h"

enum { CCO_NEAR_MOST = 4000 };

typedef struct cco_neighbor_common {
    const cco_neighbor_edges *in, *out;
    size_t most;
    cco_span got, given; /* the common messages, one after the other */
} cco_neighbor_common;

cco_neighbor_common cco_neighbor_common_make(cco_sched *s, const cco_problem *q,
                                             const cco_neighbor_edges *in,
                                             const cco_neighbor_edges *out, size_t most);

/* What comes in a round before the messages (true: there is something), in theirs, and in one after
 * them. */
bool cco_neighbor_common_pack(cco_sched *s, const cco_problem *q, const cco_neighbor_common *c);
void cco_neighbor_common_exchange(cco_sched *s, const cco_problem *q, const cco_neighbor_common *c);
void cco_neighbor_common_unpack(cco_sched *s, const cco_problem *q, const cco_neighbor_common *c);

/* Copies the blocks of edges to a span, one after the other from byte `at` on, or back.  Returns
 * their end. */
size_t cco_neighbor_copy(cco_sched *s, const cco_problem *q, const cco_neighbor_edges *edges,
                         bool given, cco_span span, size_t at);

#endif
