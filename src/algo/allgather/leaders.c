/* SPDX-License-Identifier: BSD-3-Clause */
/* allgather, allgatherv "leaders": within each node to one rank, between these, and back within.
 *
 *   bytes between nodes: each block once into every other node   messages: N - 1, or log2 N for
 *   small ones, of each of N nodes   scratch all blocks if nodes do not lie one after the other */
#include "algo/algo.h"

#include "algo/pattern/blocks.h"
#include "algo/pattern/node_blocks.h"

static void allgather_leaders_up(cco_sched *s, const cco_problem *q, const cco_node_blocks *all,
                                 const cco_group *node)
{
    cco_problem part = cco_group_problem(q, node, CCO_GATHERV,
                                         cco_node_bytes(all, q->nodes->node[q->rank]));
    part.in = q->in;
    part.counts = cco_counts_of_node(s, all);
    if (node->place == 0)
        part.out = cco_side_of_node(s, all);
    cco_group_run(s, &part, node);
}

static void allgather_leaders_between(cco_sched *s, const cco_problem *q,
                                      const cco_node_blocks *all, const cco_group *leaders)
{
    cco_problem part = cco_group_problem(q, leaders, CCO_ALLGATHERV, cco_all_bytes(all));
    part.in = cco_side_of(cco_of_node(s, all, q->nodes->node[q->rank]));
    part.out = cco_side_of_nodes(s, all);
    cco_group_run(s, &part, leaders);
}

static void allgather_leaders_build(cco_sched *s, const cco_problem *q)
{
    const bool direct = q->nodes->contiguous && q->out.at == NULL;
    const cco_group node = cco_node_group(q);
    cco_node_blocks all = {.q = q, .n = q->out.n, .each = q->out.each};
    const cco_group leaders = cco_first_group(q);
    all.all = direct ? cco_run(q, &q->out, 0, q->size) : cco_scratch(s, cco_all_bytes(&all));
    allgather_leaders_up(s, q, &all, &node);
    if (leaders.place >= 0)
        allgather_leaders_between(s, q, &all, &leaders);
    cco_problem down = cco_group_problem(q, &node, CCO_BCAST, all.all.n);
    down.out = cco_side_of(all.all);
    cco_group_run(s, &down, &node);
    if (!direct)
        cco_from_nodes(s, &all, &q->out);
}

const cco_algo cco_allgather_leaders = {
    .name = "leaders",
    .doc = "within each node to one rank, between these, and back within",
    .build = allgather_leaders_build,
};
