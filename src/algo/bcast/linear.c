/* SPDX-License-Identifier: BSD-3-Clause */
/* bcast "linear": the root sends to every rank.
 *
 *   messages p-1 from the root   bytes sent n(p-1) by the root   scratch 0 */
#include "algo/algo.h"

static void bcast_linear_build(cco_sched *s, const cco_problem *q)
{
    const cco_span all = cco_whole(&q->out);
    if (q->rank != q->root)
        cco_recv(s, q->root, all);
    for (int k = 1; k < q->size && q->rank == q->root; k++)
        cco_send(s, (q->root + k) % q->size, all);
}

const cco_algo cco_bcast_linear = {
    .name = "linear",
    .doc = "the root sends to every rank",
    .build = bcast_linear_build,
};
