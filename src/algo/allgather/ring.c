/* SPDX-License-Identifier: BSD-3-Clause */
/* allgather, allgatherv "ring": blocks go round, from each rank to the next.
 *
 *   messages p-1   bytes sent per rank all blocks but one   scratch 0
 *
 * For large n: neighbors only, and no byte twice.
 * R. Thakur, R. Rabenseifner, W. Gropp: Optimization of collective communication operations in
 * MPICH, Int. J. High Perform. Comput. Appl. 19 (2005). */
#include "algo/algo.h"

static void allgather_ring_build(cco_sched *s, const cco_problem *q)
{
    const int p = q->size, me = q->rank, next = (me + 1) % p, prev = (me + p - 1) % p;
    cco_copy(s, cco_whole(&q->in), cco_block(q, &q->out, me));
    for (int k = 0; k < p - 1; k++) {
        cco_round(s);
        cco_send(s, next, cco_block(q, &q->out, me - k));
        cco_recv(s, prev, cco_block(q, &q->out, me - k - 1));
    }
}

const cco_algo cco_allgather_ring = {
    .name = "ring",
    .doc = "blocks go round, from each rank to the next",
    .build = allgather_ring_build,
};
