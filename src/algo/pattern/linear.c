/* SPDX-License-Identifier: BSD-3-Clause */
/* linear.c - see linear.h. */
#include "algo/pattern/linear.h"

void cco_linear_gather(cco_sched *s, const cco_problem *q, long window)
{
    const cco_span mine = cco_whole(&q->in);
    if (q->rank != q->root) {
        cco_send(s, q->root, mine);
        return;
    }
    cco_copy(s, mine, cco_block(q, &q->out, q->rank));
    for (int k = 1; k < q->size; k++) {
        const int peer = (q->root + k) % q->size;
        if ((k - 1) % window == 0)
            cco_round(s);
        cco_recv(s, peer, cco_block(q, &q->out, peer));
    }
}

void cco_linear_scatter(cco_sched *s, const cco_problem *q, long window)
{
    const cco_span mine = cco_whole(&q->out);
    if (q->rank != q->root) {
        cco_recv(s, q->root, mine);
        return;
    }
    for (int k = 1; k < q->size; k++) {
        const int peer = (q->root + k) % q->size;
        if ((k - 1) % window == 0)
            cco_round(s);
        cco_send(s, peer, cco_block(q, &q->in, peer));
    }
    cco_copy(s, cco_block(q, &q->in, q->rank), mine);
}

void cco_linear_exchange(cco_sched *s, const cco_problem *q, long window)
{
    const int p = q->size, me = q->rank;
    cco_copy(s, cco_block(q, &q->in, me), cco_block(q, &q->out, me));
    for (int k = 1; k < p; k++) {
        const int to = (me + k) % p, from = (me - k + p) % p;
        if ((k - 1) % window == 0)
            cco_round(s);
        cco_send(s, to, cco_block(q, &q->in, to));
        cco_recv(s, from, cco_block(q, &q->out, from));
    }
}
