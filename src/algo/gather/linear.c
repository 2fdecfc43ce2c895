/* SPDX-License-Identifier: BSD-3-Clause */
/* gather, gatherv "linear": every rank sends its block to the root.
 *
 *   messages p-1 to the root   bytes sent n by each   scratch 0
 *
 * The root has `window` messages in a round. */
#include "algo/algo.h"

#include "algo/pattern/linear.h"

static void gather_linear_build(cco_sched *s, const cco_problem *q)
{
    cco_linear_gather(s, q, q->params[0]);
}

const cco_algo cco_gather_linear = {
    .name = "linear",
    .doc = "every rank sends its block to the root",
    .build = gather_linear_build,
    .params = {{"window", 32, 1, 1 << 20, "messages in flight"}},
};
