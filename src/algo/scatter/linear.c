/* SPDX-License-Identifier: BSD-3-Clause */
/* scatter, scatterv "linear": the root sends every rank its block.
 *
 *   messages p-1 from the root   bytes sent n(p-1) by the root   scratch 0
 *
 * The root has `window` messages in a round. */
#include "algo/algo.h"

#include "algo/pattern/linear.h"

static void scatter_linear_build(cco_sched *s, const cco_problem *q)
{
    cco_linear_scatter(s, q, q->params[0]);
}

const cco_algo cco_scatter_linear = {
    .name = "linear",
    .doc = "the root sends every rank its block",
    .build = scatter_linear_build,
    .params = {{"window", 32, 1, 1 << 20, "messages in flight"}},
};
