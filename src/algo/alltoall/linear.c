/* SPDX-License-Identifier: BSD-3-Clause */
/* alltoall, alltoallv, alltoallw "linear": every rank sends straight to every other, several at
 * a time.
 *
 *   messages p-1   bytes sent per rank all blocks but one   scratch 0
 *
 * `window` messages each way in a round, at distances that grow. */
#include "algo/algo.h"

#include "algo/pattern/linear.h"

static void alltoall_linear_build(cco_sched *s, const cco_problem *q)
{
    cco_linear_exchange(s, q, q->params[0]);
}

const cco_algo cco_alltoall_linear = {
    .name = "linear",
    .doc = "every rank sends straight to every other, several at a time",
    .build = alltoall_linear_build,
    .params = {{"window", 32, 1, 1 << 20, "messages in flight"}},
};
