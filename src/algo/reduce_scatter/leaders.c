/* SPDX-License-Identifier: BSD-3-Clause */
/* reduce_scatter, reduce_scatter_block "leaders": within each node to one rank, between these, and
 * back within.
 *
 *   bytes between nodes: of each of N nodes the blocks of all others   messages: N - 1
 *   scratch three times all blocks on leaders, and once if nodes do not lie one after the other
 *   operation: any, if the ranks of each node follow one another; else commutative */
#include "algo/algo.h"

#include "algo/pattern/blocks.h"
#include "algo/pattern/node_blocks.h"

/* The sums of a node's blocks, from all nodes. */
static void reduce_scatter_leaders_between(cco_sched *s, const cco_problem *q,
                                           const cco_group *leaders, const cco_node_blocks *sums,
                                           cco_span mine)
{
    cco_problem part = cco_group_problem(q, leaders, CCO_REDUCE_SCATTER, cco_all_bytes(sums));
    part.out = cco_side_of(mine);
    part.in = cco_side_of_nodes(s, sums);
    cco_group_run(s, &part, leaders);
}

static void reduce_scatter_leaders_down(cco_sched *s, const cco_problem *q, const cco_group *node,
                                        const cco_node_blocks *mine)
{
    cco_problem part = cco_group_problem(q, node, CCO_SCATTERV,
                                         cco_node_bytes(mine, q->nodes->node[q->rank]));
    part.out = q->out;
    part.counts = cco_counts_of_node(s, mine);
    if (node->place == 0)
        part.in = cco_side_of_node(s, mine);
    cco_group_run(s, &part, node);
}

static void reduce_scatter_leaders_build(cco_sched *s, const cco_problem *q)
{
    const cco_group node = cco_node_group(q);
    cco_node_blocks given = {.q = q, .n = q->in.n, .each = q->in.each}, sums = given, mine = given;
    const cco_group leaders = cco_first_group(q);
    const bool leads = leaders.place >= 0;
    const size_t bytes = cco_all_bytes(&given);
    given.all = q->nodes->contiguous ? cco_run(q, &q->in, 0, q->size) : cco_scratch(s, bytes);
    if (!q->nodes->contiguous)
        cco_to_nodes(s, &given, &q->in);
    sums.all = cco_scratch(s, leads ? bytes : 0);
    mine.own = true;
    mine.all = cco_scratch(s, leads ? cco_node_bytes(&mine, leaders.place) : 0);
    cco_problem up = cco_group_problem(q, &node, CCO_REDUCE, bytes);
    up.in = cco_side_of(given.all);
    if (leads)
        up.out = cco_side_of(sums.all);
    cco_group_run(s, &up, &node);
    if (leads)
        reduce_scatter_leaders_between(s, q, &leaders, &sums, mine.all);
    reduce_scatter_leaders_down(s, q, &node, &mine);
}

const cco_algo cco_reduce_scatter_leaders = {
    .name = "leaders",
    .doc = "within each node to one rank, between these, and back within",
    .refuses = cco_needs_order,
    .build = reduce_scatter_leaders_build,
};
