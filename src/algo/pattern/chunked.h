/* SPDX-License-Identifier: BSD-3-Clause */
/* chunked.h - blocks between all pairs, a chunk of each at a time, one message at a time. */
#ifndef CCO_CHUNKED_H
#define CCO_CHUNKED_H

#include "sched/problem.h"

/* alltoall, alltoallv and alltoallw: the chunk of every block, then the next of every block that is
 * longer.  `order` is that of peers for each chunk: 0 by distance, 1 by distances shuffled by
 * `seed` alike on all ranks, 2 by exclusive or. */
void cco_chunked_exchange(cco_sched *s, const cco_problem *q, long chunk, long order, long seed);

#endif
