/* SPDX-License-Identifier: BSD-3-Clause */
/* reduce "leaders": within each node to one rank, then between these to the root.
 *
 *   bytes between nodes: n out of each of N - 1 nodes   scratch n and more on leaders
 *   operation: any, if the ranks of each node follow one another; else commutative
 *
 * The leader of the root's node is the root. */
#include "algo/algo.h"

#include "algo/pattern/groups.h"

static void reduce_leaders_build(cco_sched *s, const cco_problem *q)
{
    const cco_group node = cco_node_group(q);
    const cco_group leaders = cco_leader_group(q, q->root);
    const bool leads = leaders.place >= 0;
    const cco_span sum = cco_scratch(s, leads ? cco_whole(&q->in).n : 0);
    cco_problem within = cco_group_problem(q, &node, CCO_REDUCE, q->bytes);
    within.root = cco_leader_place(q, &leaders);
    within.in = q->in;
    if (leads)
        within.out = cco_side_of(sum);
    cco_group_run(s, &within, &node);
    if (!leads)
        return;
    cco_problem between = cco_group_problem(q, &leaders, CCO_REDUCE, q->bytes);
    between.root = q->nodes->node[q->root];
    between.in = cco_side_of(sum);
    between.out = q->out;
    cco_group_run(s, &between, &leaders);
}

const cco_algo cco_reduce_leaders = {
    .name = "leaders",
    .doc = "within each node to one rank, then between these to the root",
    .refuses = cco_needs_order,
    .build = reduce_leaders_build,
};
