/* SPDX-License-Identifier: BSD-3-Clause */
/* scatter, scatterv "leaders": from the root to one rank of each node, then within the nodes.
 *
 *   messages between nodes: N - 1 of N nodes   bytes: each block once, or log2 N times if all are
 *   small   scratch the blocks of a node on its leader, all on the root if nodes do not lie one
 *   after the other; of a scatterv, after a broadcast of 8p bytes: all sizes
 *
 * The leader of the root's node is the root. */
#include "algo/algo.h"

#include "algo/pattern/blocks.h"
#include "algo/pattern/node_blocks.h"

static const char *refuses(const cco_problem *q)
{
    (void)q;
    return NULL;
}

/* Whether the root sends each node's blocks from where they are. */
static bool is_direct(const cco_problem *q)
{
    return q->nodes->contiguous && q->coll == CCO_SCATTER;
}

/* From the root, which has `all`, to the leaders. */
static bool between(cco_sched *s, const cco_problem *q, const cco_group *leaders,
                    const cco_node_blocks *all, cco_span own)
{
    cco_problem part = cco_group_problem(q, leaders, CCO_SCATTERV, q->nodes->node[q->root],
                                         cco_all_bytes(all));
    part.out = cco_side_of(own);
    part.counts = cco_counts_of_nodes(s, all);
    if (part.counts == NULL || (q->rank == q->root && !cco_side_of_nodes(s, all, &part.in)))
        return false;
    cco_group_run(s, &part, leaders);
    return true;
}

/* The blocks of this rank's node, from its leader. */
static void within(cco_sched *s, const cco_problem *q, const cco_node_blocks *blocks, int place)
{
    const cco_group node = cco_node_group(q);
    cco_problem part = cco_group_problem(q, &node, CCO_SCATTERV, place,
                                         cco_node_bytes(blocks, q->nodes->node[q->rank]));
    part.out = q->out;
    if (q->rank == q->root && q->out.base == CCO_IN) /* in place: where it was is where it stays */
        part.out = cco_side_of(cco_of_rank(s, blocks, q->rank));
    part.counts = cco_counts_of_node(s, blocks);
    if (part.counts != NULL && (node.place != place || cco_side_of_node(s, blocks, &part.in)))
        cco_group_run(s, &part, &node);
}

static void build(cco_sched *s, const cco_problem *q)
{
    const bool root = q->rank == q->root, direct = is_direct(q);
    const int mine = q->nodes->node[q->rank];
    cco_node_blocks all = {.q = q, .n = q->counts, .each = q->bytes}, here = all;
    cco_group leaders;
    if (!cco_leader_group(s, q, q->root, &leaders))
        return;
    if (root)
        all.all = direct ? cco_run(q, &q->in, 0, q->size) : cco_scratch(s, cco_all_bytes(&all));
    if (root && !direct)
        cco_to_nodes(s, &all, &q->in);
    here.own = !root;
    here.all = root ? all.all
                    : cco_scratch(s, leaders.place >= 0 ? cco_node_bytes(&here, mine) : 0);
    if (leaders.place >= 0 && !between(s, q, &leaders, &all, cco_of_node(s, &here, mine)))
        return;
    within(s, q, &here, cco_leader_place(q, &leaders));
}

const cco_algo cco_scatter_leaders = {
    .name = "leaders",
    .doc = "from the root to one rank of each node, then within the nodes",
    .refuses = refuses,
    .build = build,
    .shares_counts = true,
};
