/* SPDX-License-Identifier: BSD-3-Clause */
/* reduce_scatter, reduce_scatter_block "lanes": within each node, each rank reduces the blocks of
 * its equals on all nodes; then it does so with them.
 *
 *   bytes between nodes: of each of N nodes the blocks of all others, in as many messages at once
 *   as a node has ranks   scratch three times all blocks   nodes: equally many ranks
 *   operation: any, if the ranks of each node follow one another; else commutative
 *
 * For large n: all ranks of a node reduce, and share its links to others.
 * J. L. Traeff, S. Hunold: Decomposing MPI collectives for exploiting multi-lane communication,
 * IEEE Cluster 2020. */
#include "algo/algo.h"

#include "algo/pattern/groups.h"

static const char *reduce_scatter_lanes_refuses(const cco_problem *q)
{
    const char *why = cco_needs_equal_nodes(q);
    return why != NULL ? why : cco_needs_order(q);
}

/* Copies all blocks, those of a lane one after the other; tells where each lane's are. */
static void reduce_scatter_lanes_pack(cco_sched *s, const cco_problem *q, cco_span packed,
                                      cco_span *lanes)
{
    const cco_node_map *map = q->nodes;
    size_t at = 0;
    for (int i = 0; i < map->most; i++) {
        const size_t before = at;
        for (int k = 0; k < map->count; k++) {
            const cco_span block = cco_block(q, &q->in, cco_node_rank(map, k, i));
            cco_copy(s, block, cco_part(s, packed, at, block.n));
            at += block.n;
        }
        lanes[i] = cco_part(s, packed, before, at - before);
    }
}

/* Where the blocks of this rank's lane are in the sum of its node. */
static void reduce_scatter_lanes_divide(cco_sched *s, const cco_problem *q, const cco_group *lane,
                                        cco_span mine, cco_span *blocks)
{
    size_t at = 0;
    for (int k = 0; k < lane->size; k++) {
        const size_t n = cco_block(q, &q->in, cco_group_rank(lane, k)).n;
        blocks[k] = cco_part(s, mine, at, n);
        at += n;
    }
}

static size_t reduce_scatter_lanes_bytes_of(const cco_problem *q)
{
    size_t n = 0;
    for (int i = 0; i < q->size; i++)
        n += cco_block(q, &q->in, i).n;
    return n;
}

static void reduce_scatter_lanes_build(cco_sched *s, const cco_problem *q)
{
    const cco_group node = cco_node_group(q);
    cco_span *lanes = cco_block_list(s, node.size), *blocks = cco_block_list(s, q->nodes->count);
    const cco_group lane = cco_lane_group(q);
    if (lanes == NULL || blocks == NULL)
        return;
    const size_t bytes = reduce_scatter_lanes_bytes_of(q);
    reduce_scatter_lanes_pack(s, q, cco_scratch(s, bytes), lanes);
    const cco_span mine = cco_scratch(s, lanes[node.place].n);
    reduce_scatter_lanes_divide(s, q, &lane, mine, blocks);
    cco_problem within = cco_group_problem(q, &node, CCO_REDUCE_SCATTER, bytes);
    within.in = cco_side_blocks(s, lanes, node.size);
    within.out = cco_side_of(mine);
    cco_problem along = cco_group_problem(q, &lane, CCO_REDUCE_SCATTER, mine.n);
    along.in = cco_side_blocks(s, blocks, lane.size);
    along.out = q->out;
    cco_group_run(s, &within, &node);
    cco_group_run(s, &along, &lane);
}

const cco_algo cco_reduce_scatter_lanes = {
    .name = "lanes",
    .doc = "within the nodes, then each rank with its equals on other nodes",
    .refuses = reduce_scatter_lanes_refuses,
    .build = reduce_scatter_lanes_build,
};
