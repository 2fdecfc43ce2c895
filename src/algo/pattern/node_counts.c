/* SPDX-License-Identifier: BSD-3-Clause */
/* node_counts.c - see node_counts.h. */
#include "algo/pattern/node_counts.h"

#include "algo/pattern/groups.h"

static void pattern_node_counts_build(cco_sched *s, const cco_problem *q)
{
    const cco_group node = cco_node_group(q);
    cco_problem part = cco_group_problem(q, &node, CCO_GATHER, q->bytes);
    part.in = q->in;
    if (node.place == 0)
        part.out = q->out;
    cco_group_run(s, &part, &node);
}

const cco_algo cco_node_counts = {
    .name = "node_counts",
    .doc = "sizes to the leader of each node",
    .build = pattern_node_counts_build,
};
