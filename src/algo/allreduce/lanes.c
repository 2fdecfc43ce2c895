/* SPDX-License-Identifier: BSD-3-Clause */
/* allreduce "lanes": each rank of a node reduces a part of the vector with its equals on other
 * nodes.
 *
 *   bytes between nodes: as "leaders", in as many messages at once as a node has ranks
 *   operation: any, if the ranks of each node follow one another; else commutative
 *   nodes: equally many ranks
 *
 * For large n: all ranks of a node reduce, and share its links to others.
 * J. L. Traeff, S. Hunold: Decomposing MPI collectives for exploiting multi-lane communication,
 * IEEE Cluster 2020. */
#include "algo/algo.h"

#include "algo/pattern/groups.h"

static const char *allreduce_lanes_refuses(const cco_problem *q)
{
    const char *why = cco_needs_equal_nodes(q);
    return why != NULL ? why : cco_needs_order(q);
}

static cco_side allreduce_lanes_parts_of(cco_sched *s, const cco_problem *q, cco_span all,
                                         int count)
{
    cco_span *parts = cco_block_list(s, count);
    for (int i = 0; i < count && parts != NULL; i++)
        parts[i] = cco_cut(s, q, all, i, count);
    return cco_side_blocks(s, parts, count);
}

static void allreduce_lanes_build(cco_sched *s, const cco_problem *q)
{
    const cco_group node = cco_node_group(q);
    const cco_span in = cco_whole(&q->in), out = cco_whole(&q->out);
    const cco_span mine = cco_cut(s, q, out, node.place, node.size);
    const cco_group lane = cco_lane_group(q);
    cco_problem scatter = cco_group_problem(q, &node, CCO_REDUCE_SCATTER, out.n);
    scatter.in = allreduce_lanes_parts_of(s, q, in, node.size);
    scatter.out = cco_side_of(mine);
    cco_group_run(s, &scatter, &node);
    cco_problem along = cco_group_problem(q, &lane, CCO_ALLREDUCE, mine.n);
    along.in = along.out = cco_side_of(mine);
    cco_group_run(s, &along, &lane);
    cco_problem gather = cco_group_problem(q, &node, CCO_ALLGATHERV, out.n);
    gather.in = cco_side_of(mine);
    gather.out = allreduce_lanes_parts_of(s, q, out, node.size);
    cco_group_run(s, &gather, &node);
}

const cco_algo cco_allreduce_lanes = {
    .name = "lanes",
    .doc = "each rank of a node does a part of the vector with its equals on other nodes",
    .refuses = allreduce_lanes_refuses,
    .build = allreduce_lanes_build,
};
