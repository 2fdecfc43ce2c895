/* SPDX-License-Identifier: BSD-3-Clause */
/* exscan "linear": from rank to rank.
 *
 *   messages 1   bytes sent per rank n   scratch n   operation: any
 *
 * Fewest messages, in p-1 rounds. */
#include "algo/algo.h"

static void exscan_linear_build(cco_sched *s, const cco_problem *q)
{
    const int me = q->rank;
    const bool last = me == q->size - 1, middle = me > 0 && !last;
    const cco_span in = cco_whole(&q->in), out = cco_whole(&q->out);
    const cco_span sum = middle ? cco_scratch(s, in.n) : in; /* of the ranks up to this one */
    cco_copy(s, in, sum);
    cco_round(s);
    if (me > 0)
        cco_recv(s, me - 1, out);
    cco_round(s);
    if (middle)
        cco_reduce(s, out, sum);
    cco_round(s);
    if (!last)
        cco_send(s, me + 1, sum);
}

const cco_algo cco_exscan_linear = {
    .name = "linear",
    .doc = "from rank to rank",
    .build = exscan_linear_build,
};
