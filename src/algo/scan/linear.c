/* SPDX-License-Identifier: BSD-3-Clause */
/* scan "linear": from rank to rank.
 *
 *   messages 1   bytes sent per rank n   scratch n   operation: any
 *
 * Fewest messages, in p-1 rounds. */
#include "algo/algo.h"

static void scan_linear_build(cco_sched *s, const cco_problem *q)
{
    const int me = q->rank;
    const cco_span sum = cco_whole(&q->out), got = cco_scratch(s, me > 0 ? sum.n : 0);
    cco_copy(s, cco_whole(&q->in), sum);
    if (me > 0) {
        cco_recv(s, me - 1, got);
        cco_round(s);
        cco_reduce(s, got, sum);
    }
    cco_round(s);
    if (me < q->size - 1)
        cco_send(s, me + 1, sum);
}

const cco_algo cco_scan_linear = {
    .name = "linear",
    .doc = "from rank to rank",
    .build = scan_linear_build,
};
