/* SPDX-License-Identifier: BSD-3-Clause */
/* allgather, allgatherv "lanes": each rank gathers the blocks of its equals on other nodes, and
 * passes them on in its node.
 *
 *   bytes between nodes: each block once into every other node, in as many messages at once as a
 *   node has ranks   scratch 0, for small blocks those of the lane   nodes: equally many ranks
 *
 * For large n: all ranks of a node share its links to others.
 * J. L. Traeff, S. Hunold: Decomposing MPI collectives for exploiting multi-lane communication,
 * IEEE Cluster 2020. */
#include "algo/algo.h"

#include "algo/pattern/groups.h"

static void allgather_lanes_build(cco_sched *s, const cco_problem *q)
{
    const cco_node_map *map = q->nodes;
    const cco_group node = cco_node_group(q);
    cco_span *blocks = cco_block_list(s, map->count);
    const cco_group lane = cco_lane_group(q);
    size_t bytes = 0;
    if (blocks == NULL)
        return;
    for (int k = 0; k < map->count; k++) {
        blocks[k] = cco_block(q, &q->out, cco_group_rank(&lane, k));
        bytes += blocks[k].n;
    }
    cco_problem along = cco_group_problem(q, &lane, CCO_ALLGATHERV, bytes);
    along.in = q->in;
    along.out = cco_side_blocks(s, blocks, map->count);
    cco_group_run(s, &along, &lane);
    const int next = (node.place + 1) % node.size, prev = (node.place + node.size - 1) % node.size;
    for (int step = 0; step < node.size - 1; step++) { /* the blocks of a lane go round */
        const int give = (node.place - step + node.size) % node.size;
        const int get = (give + node.size - 1) % node.size;
        cco_round(s);
        for (int k = 0; k < map->count; k++) {
            cco_send(s, node.ranks[next], cco_block(q, &q->out, cco_node_rank(map, k, give)));
            cco_recv(s, node.ranks[prev], cco_block(q, &q->out, cco_node_rank(map, k, get)));
        }
    }
}

const cco_algo cco_allgather_lanes = {
    .name = "lanes",
    .doc = "each rank with its equals on other nodes, then within the nodes",
    .refuses = cco_needs_equal_nodes,
    .build = allgather_lanes_build,
};
