/* SPDX-License-Identifier: BSD-3-Clause */
/* allreduce "leaders": within each node to one rank, between these, and back within.
 *
 *   bytes between nodes: out of each of N nodes 2n(N-1)/N, for small n n log2 N
 *   scratch n and more on leaders
 *   operation: any, if the ranks of each node follow one another; else commutative */
#include "algo/algo.h"

#include "algo/pattern/groups.h"

static void allreduce_leaders_build(cco_sched *s, const cco_problem *q)
{
    const cco_group node = cco_node_group(q);
    const cco_group leaders = cco_first_group(q);
    cco_problem up = cco_group_problem(q, &node, CCO_REDUCE, q->bytes);
    up.in = q->in;
    up.out = q->out;
    cco_group_run(s, &up, &node);
    if (leaders.place >= 0) {
        cco_problem between = cco_group_problem(q, &leaders, CCO_ALLREDUCE, q->bytes);
        between.in = between.out = q->out;
        cco_group_run(s, &between, &leaders);
    }
    cco_problem down = cco_group_problem(q, &node, CCO_BCAST, q->bytes);
    down.out = q->out;
    cco_group_run(s, &down, &node);
}

const cco_algo cco_allreduce_leaders = {
    .name = "leaders",
    .doc = "within each node to one rank, between these, and back within",
    .refuses = cco_needs_order,
    .build = allreduce_leaders_build,
};
