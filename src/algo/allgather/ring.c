/* SPDX-License-Identifier: BSD-3-Clause */
/* allgather, allgatherv "ring": blocks go round, from each rank to the next.
 *
 *   messages p-1   bytes sent per rank all blocks but one   scratch 0
 *
 * For large n: neighbors only, and no byte twice.
 * R. Thakur, R. Rabenseifner, W. Gropp: Optimization of collective communication operations in
 * MPICH, Int. J. High Perform. Comput. Appl. 19 (2005). */
#include "algo/algo.h"

#include "algo/pattern/ring.h"

static const char *allgather_ring_refuses(const cco_problem *q)
{
    (void)q;
    return NULL;
}

static void allgather_ring_build(cco_sched *s, const cco_problem *q)
{
    cco_ring_allgather(s, q);
}

const cco_algo cco_allgather_ring = {
    .name = "ring",
    .doc = "blocks go round, from each rank to the next",
    .refuses = allgather_ring_refuses,
    .build = allgather_ring_build,
};
