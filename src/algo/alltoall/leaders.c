/* SPDX-License-Identifier: BSD-3-Clause */
/* alltoall "leaders": all that leaves a node goes through one of its ranks, in one message to each
 * other node.
 *
 *   messages between nodes: N - 1 of each of N nodes   bytes: each block once
 *   scratch three times all blocks of a node on its leader
 *
 * For small n, where messages cost more than bytes. */
#include "algo/algo.h"

#include "algo/pattern/blocks.h"
#include "algo/pattern/groups.h"

/* Where data between two nodes begin: `here` blocks for each rank of the nodes before, and the
 * number of ranks of the node. */
static cco_span of_node(cco_sched *s, const cco_problem *q, cco_span all, int node, int here)
{
    const size_t each = (size_t)here * q->bytes;
    return cco_part(s, all, (size_t)q->nodes->first[node] * each,
                    (size_t)cco_node_ranks(q->nodes, node) * each);
}

/* From what a rank of the node gives to a node whose ranks follow one another. */
static void sort_run(cco_sched *s, const cco_problem *q, cco_span given, int node, cco_span sorted)
{
    const size_t first = (size_t)cco_node_rank(q->nodes, node, 0);
    cco_copy(s, cco_part(s, given, first * q->bytes, sorted.n), sorted);
}

/* The leader's: from what each rank of the node gives, in the order of ranks, to what goes to each
 * node; or from what came from each node to what each rank of this one takes. */
static void alltoall_leaders_sort(cco_sched *s, const cco_problem *q, const cco_group *node,
                                  cco_span by_rank, cco_span by_node, bool comes)
{
    const cco_node_map *map = q->nodes;
    const size_t n = q->bytes, p = (size_t)q->size;
    for (int k = 0; k < map->count; k++) {
        const cco_span there = of_node(s, q, by_node, k, node->size);
        const size_t theirs = (size_t)cco_node_ranks(map, k), ours = (size_t)node->size;
        for (size_t i = 0; i < ours && !comes && map->contiguous; i++)
            sort_run(s, q, cco_part(s, by_rank, i * p * n, p * n), k,
                     cco_part(s, there, i * theirs * n, theirs * n));
        for (size_t i = 0; i < ours && (comes || !map->contiguous); i++)
            for (size_t j = 0; j < theirs; j++) {
                const size_t at = comes ? j * ours + i : i * theirs + j;
                const size_t rank = (size_t)cco_node_rank(map, k, (int)j);
                const cco_span a = cco_part(s, by_rank, (i * p + rank) * n, n);
                const cco_span b = cco_part(s, there, at * n, n);
                cco_copy(s, comes ? b : a, comes ? a : b);
            }
    }
}

static void alltoall_leaders_exchange(cco_sched *s, const cco_problem *q, const cco_group *leaders,
                                      int here, cco_span give, cco_span got)
{
    cco_span *from = cco_block_list(s, leaders->size), *to = cco_block_list(s, leaders->size);
    if (from == NULL || to == NULL)
        return;
    for (int k = 0; k < leaders->size; k++) {
        from[k] = of_node(s, q, give, k, here);
        to[k] = of_node(s, q, got, k, here);
    }
    cco_problem part = cco_group_problem(q, leaders, CCO_ALLTOALLV, q->bytes);
    part.in = cco_side_blocks(s, from, leaders->size);
    part.out = cco_side_blocks(s, to, leaders->size);
    cco_group_run(s, &part, leaders);
}

static void alltoall_leaders_build(cco_sched *s, const cco_problem *q)
{
    const cco_group node = cco_node_group(q);
    const cco_group leaders = cco_first_group(q);
    const bool leads = leaders.place >= 0;
    const size_t bytes = leads ? (size_t)node.size * (size_t)q->size * q->bytes : 0;
    const cco_span by_rank = cco_scratch(s, bytes);
    cco_problem up = cco_group_problem(q, &node, CCO_GATHER, (size_t)q->size * q->bytes);
    up.in = cco_side_of(cco_run(q, &q->in, 0, q->size));
    cco_problem down = cco_group_problem(q, &node, CCO_SCATTER, (size_t)q->size * q->bytes);
    down.out = cco_side_of(cco_run(q, &q->out, 0, q->size));
    if (leads)
        up.out = down.in = cco_side_parts(s, by_rank, node.size);
    cco_group_run(s, &up, &node);
    if (leads) {
        const cco_span give = cco_scratch(s, bytes), got = cco_scratch(s, bytes);
        alltoall_leaders_sort(s, q, &node, by_rank, give, false);
        alltoall_leaders_exchange(s, q, &leaders, node.size, give, got);
        alltoall_leaders_sort(s, q, &node, by_rank, got, true);
    }
    cco_group_run(s, &down, &node);
}

const cco_algo cco_alltoall_leaders = {
    .name = "leaders",
    .doc = "through one rank of each node, in one message to each other node",
    .build = alltoall_leaders_build,
};
