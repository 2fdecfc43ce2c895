/* SPDX-License-Identifier: BSD-3-Clause */
/* barrier "leaders": the ranks of a node tell their leader, the leaders tell each other, and then
 * their nodes.
 *
 *   messages between nodes: ceil(log2 N) of each of N nodes   scratch a few bytes a rank
 *
 * The leaders run the dissemination barrier (dissemination.c). */
#include "algo/algo.h"

#include "algo/pattern/groups.h"
#include "algo/pattern/tree.h"

/* All of a node tell its first rank, along a tree. */
static void barrier_leaders_gather(cco_sched *s, const cco_problem *part, const cco_group *node,
                                   cco_span told)
{
    const int place = part->rank, p = part->size, reach = cco_tree_reach(place, p);
    cco_within(s, node);
    for (int bit = 1; bit < reach && bit < p - place; bit *= 2)
        cco_recv(s, place + bit, cco_scratch(s, 1));
    cco_round(s);
    if (place != 0)
        cco_send(s, place - reach, told);
}

static void barrier_leaders_build(cco_sched *s, const cco_problem *q)
{
    const cco_group node = cco_node_group(q);
    const cco_span told = cco_scratch(s, 1);
    cco_problem within = cco_group_problem(q, &node, CCO_BCAST, told.n);
    const cco_group leaders = cco_first_group(q);
    barrier_leaders_gather(s, &within, &node, told);
    if (leaders.place >= 0) {
        cco_problem between = cco_group_problem(q, &leaders, CCO_BARRIER, q->bytes);
        cco_group_run(s, &between, &leaders);
    }
    within.out = cco_side_of(told);
    cco_group_run(s, &within, &node);
}

const cco_algo cco_barrier_leaders = {
    .name = "leaders",
    .doc = "within each node, between one rank of each, and back",
    .build = barrier_leaders_build,
};
