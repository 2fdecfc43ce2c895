/* SPDX-License-Identifier: BSD-3-Clause */
/* ring.c - see ring.h. */
#include "algo/pattern/ring.h"

void cco_ring_allgather(cco_sched *s, const cco_problem *q)
{
    const int p = q->size, me = q->rank, next = (me + 1) % p, prev = (me + p - 1) % p;
    cco_copy(s, cco_whole(&q->in), cco_block(q, &q->out, me));
    for (int k = 0; k < p - 1; k++) {
        cco_round(s);
        cco_send(s, next, cco_block(q, &q->out, me - k));
        cco_recv(s, prev, cco_block(q, &q->out, me - k - 1));
    }
}
