/* SPDX-License-Identifier: BSD-3-Clause */
/* alltoall "lanes": within each node, each rank collects what goes to its equals on other nodes;
 * then it sends them that.
 *
 *   messages between nodes: N - 1 of each rank of N nodes   bytes: each block once
 *   scratch twice all blocks   nodes: equally many ranks
 *
 * For middle n: fewer messages between nodes than ranks, on all ranks of a node at once.
 * J. L. Traeff, S. Hunold: Decomposing MPI collectives for exploiting multi-lane communication,
 * IEEE Cluster 2020. */
#include "algo/algo.h"

#include "algo/pattern/groups.h"

typedef enum order { BY_LANE, BY_NODE } order;

/* Block (node k, place i) of a span that has the blocks of each lane, or each node, together. */
static cco_span alltoall_lanes_at(cco_sched *s, const cco_problem *q, cco_span all, order order,
                                  int k, int i)
{
    const int place = order == BY_LANE ? i * q->nodes->count + k : k * q->nodes->most + i;
    return cco_part(s, all, (size_t)place * q->bytes, q->bytes);
}

static void alltoall_lanes_exchange(cco_sched *s, const cco_problem *q, const cco_group *group,
                                    cco_span give, cco_span got)
{
    const cco_side in = cco_side_parts(s, give, group->size);
    cco_problem part = cco_group_problem(q, group, CCO_ALLTOALL, in.each);
    part.in = in;
    part.out = cco_side_parts(s, got, group->size);
    cco_group_run(s, &part, group);
}

static void alltoall_lanes_build(cco_sched *s, const cco_problem *q)
{
    const cco_node_map *map = q->nodes;
    const cco_group node = cco_node_group(q);
    const size_t bytes = (size_t)q->size * q->bytes;
    const cco_span a = cco_scratch(s, bytes), b = cco_scratch(s, bytes);
    const cco_group lane = cco_lane_group(q);
    for (int i = 0; i < map->most; i++)
        for (int k = 0; k < map->count; k++)
            cco_copy(s, cco_block(q, &q->in, cco_node_rank(map, k, i)),
                     alltoall_lanes_at(s, q, a, BY_LANE, k, i));
    alltoall_lanes_exchange(s, q, &node, a, b);
    for (int i = 0; i < map->most; i++) /* rank i of this node gave these */
        for (int k = 0; k < map->count; k++)
            cco_copy(s, alltoall_lanes_at(s, q, b, BY_LANE, k, i),
                     alltoall_lanes_at(s, q, a, BY_NODE, k, i));
    alltoall_lanes_exchange(s, q, &lane, a, b);
    for (int i = 0; i < map->most; i++)
        for (int k = 0; k < map->count; k++)
            cco_copy(s, alltoall_lanes_at(s, q, b, BY_NODE, k, i),
                     cco_block(q, &q->out, cco_node_rank(map, k, i)));
}

const cco_algo cco_alltoall_lanes = {
    .name = "lanes",
    .doc = "within the nodes, then each rank with its equals on other nodes",
    .refuses = cco_needs_equal_nodes,
    .build = alltoall_lanes_build,
};
