/* SPDX-License-Identifier: BSD-3-Clause */
/* barrier "dissemination": in round k, tell the rank 2^k after, hear from the one 2^k before.
 *
 *   messages ceil(log2 p)   bytes sent per rank ceil(log2 p)   scratch 2
 *
 * D. Hensgen, R. Finkel, U. Manber: Two algorithms for barrier synchronization, Int. J. Parallel
 * Program. 17 (1988). */
#include "algo/algo.h"

static void barrier_dissemination_build(cco_sched *s, const cco_problem *q)
{
    const int p = q->size, me = q->rank;
    const cco_span told = cco_scratch(s, 1), heard = cco_scratch(s, 1);
    for (int far = 1; far < p; far *= 2) {
        cco_round(s);
        cco_send(s, (me + far) % p, told);
        cco_recv(s, (me - far + p) % p, heard);
    }
}

const cco_algo cco_barrier_dissemination = {
    .name = "dissemination",
    .doc = "tell the rank 2^k after, hear from the one 2^k before",
    .build = barrier_dissemination_build,
};
