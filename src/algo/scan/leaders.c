/* SPDX-License-Identifier: BSD-3-Clause */
/* scan "leaders": within each node, between the last ranks of nodes, and within again what came
 * before.
 *
 *   messages between nodes: at most ceil(log2 N) of each of N nodes   bytes: n each   scratch 2n
 *   nodes: their ranks follow one another   operation: any */
#include "algo/algo.h"

#include "algo/pattern/node_scan.h"

static void scan_leaders_build(cco_sched *s, const cco_problem *q)
{
    const cco_group node = cco_node_group(q);
    const cco_span out = cco_whole(&q->out);
    cco_span before;
    cco_problem within = cco_group_problem(q, &node, CCO_SCAN, q->bytes);
    within.in = q->in;
    within.out = q->out;
    cco_group_run(s, &within, &node);
    if (cco_sum_of_nodes_before(s, q, out, &before))
        cco_reduce(s, before, out);
}

const cco_algo cco_scan_leaders = {
    .name = "leaders",
    .doc = "within each node, between their last ranks, and back within",
    .refuses = cco_needs_nodes_in_a_row,
    .build = scan_leaders_build,
};
