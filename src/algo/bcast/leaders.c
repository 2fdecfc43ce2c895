/* SPDX-License-Identifier: BSD-3-Clause */
/* bcast "leaders": from the root to one rank of each node, then within the nodes.
 *
 *   bytes between nodes: n into each of N - 1 nodes   messages: log2 N in a row   scratch 0
 *
 * The leader of the root's node is the root. */
#include "algo/algo.h"

#include "algo/pattern/groups.h"

static void bcast_leaders_build(cco_sched *s, const cco_problem *q)
{
    const cco_group node = cco_node_group(q);
    const cco_group leaders = cco_leader_group(q, q->root);
    if (leaders.place >= 0) {
        cco_problem between = cco_group_problem(q, &leaders, CCO_BCAST, q->bytes);
        between.root = q->nodes->node[q->root];
        between.out = q->out;
        cco_group_run(s, &between, &leaders);
    }
    cco_problem within = cco_group_problem(q, &node, CCO_BCAST, q->bytes);
    within.root = cco_leader_place(q, &leaders);
    within.out = q->out;
    cco_group_run(s, &within, &node);
}

const cco_algo cco_bcast_leaders = {
    .name = "leaders",
    .doc = "from the root to one rank of each node, then within the nodes",
    .build = bcast_leaders_build,
};
