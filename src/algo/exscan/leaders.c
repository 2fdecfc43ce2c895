/* SPDX-License-Identifier: BSD-3-Clause */
/* exscan "leaders": within each node, between the last ranks of nodes, and within again what came
 * before.
 *
 *   messages between nodes: at most ceil(log2 N) of each of N nodes   bytes: n each   scratch 3n
 *   nodes: their ranks follow one another   operation: any */
#include "algo/algo.h"

#include "algo/pattern/node_scan.h"

static void exscan_leaders_build(cco_sched *s, const cco_problem *q)
{
    const cco_group node = cco_node_group(q);
    const cco_span in = cco_whole(&q->in), out = cco_whole(&q->out);
    const bool last = node.place == node.size - 1 && q->nodes->count > 1;
    const cco_span total = cco_scratch(s, last ? in.n : 0);
    cco_span before;
    if (last)
        cco_copy(s, in, total);
    cco_problem within = cco_group_problem(q, &node, CCO_EXSCAN, q->bytes);
    within.in = q->in;
    within.out = q->out;
    cco_group_run(s, &within, &node);
    if (last && node.place > 0)
        cco_reduce(s, out, total);
    if (!cco_sum_of_nodes_before(s, q, total, &before))
        return;
    if (node.place == 0)
        cco_copy(s, before, out);
    else
        cco_reduce(s, before, out);
}

const cco_algo cco_exscan_leaders = {
    .name = "leaders",
    .doc = "within each node, between their last ranks, and back within",
    .refuses = cco_needs_nodes_in_a_row,
    .build = exscan_leaders_build,
};
