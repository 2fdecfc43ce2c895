/* SPDX-License-Identifier: BSD-3-Clause */
/* node_scan.c - see node_scan.h. */
#include "algo/pattern/node_scan.h"

const char *cco_needs_nodes_in_a_row(const cco_problem *q)
{
    const bool can = q->nodes == NULL || q->nodes->contiguous;
    return can ? NULL : "needs nodes whose ranks follow one another";
}

bool cco_sum_of_nodes_before(cco_sched *s, const cco_problem *q, cco_span total, cco_span *before)
{
    const cco_group node = cco_node_group(q);
    const bool first = q->nodes->node[q->rank] == 0;
    const cco_group lasts = cco_last_group(q);
    if (q->nodes->count == 1)
        return false;
    *before = cco_scratch(s, cco_whole(&q->in).n);
    if (lasts.place >= 0) {
        cco_problem between = cco_group_problem(q, &lasts, CCO_EXSCAN, q->bytes);
        between.in = cco_side_of(total);
        between.out = cco_side_of(*before);
        cco_group_run(s, &between, &lasts);
    }
    if (first)
        return false;
    cco_problem within = cco_group_problem(q, &node, CCO_BCAST, q->bytes);
    within.root = node.size - 1;
    within.out = cco_side_of(*before);
    cco_group_run(s, &within, &node);
    return true;
}
