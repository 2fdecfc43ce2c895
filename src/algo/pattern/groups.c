/* SPDX-License-Identifier: BSD-3-Clause */
/* groups.c - see groups.h. */
#include "algo/pattern/groups.h"

#include <stdint.h>

#include "algo/registry.h"

const char *cco_needs_order(const cco_problem *q)
{
    const bool can = q->nodes == NULL || q->nodes->contiguous || q->commutative;
    return can ? NULL : "needs a commutative operation, or nodes whose ranks follow one another";
}

const char *cco_needs_equal_nodes(const cco_problem *q)
{
    const bool can = q->nodes == NULL || q->nodes->least == q->nodes->most;
    return can ? NULL : "needs equally many ranks on every node";
}

cco_group cco_node_group(const cco_problem *q)
{
    const cco_node_map *map = q->nodes;
    const int node = map->node[q->rank];
    return (cco_group){.ranks = map->ranks + map->first[node],
                       .size = cco_node_ranks(map, node),
                       .place = map->place[q->rank]};
}

static cco_group one_of_each(const cco_problem *q, int at, int root)
{
    const cco_node_map *map = q->nodes;
    cco_group group = {.nodes = map, .at = at, .root = root, .size = map->count, .place = -1};
    if (cco_group_rank(&group, map->node[q->rank]) == q->rank)
        group.place = map->node[q->rank];
    return group;
}

cco_group cco_first_group(const cco_problem *q)
{
    return one_of_each(q, 0, CCO_NO_PEER);
}

cco_group cco_leader_group(const cco_problem *q, int root)
{
    return one_of_each(q, 0, root);
}

cco_group cco_last_group(const cco_problem *q)
{
    return one_of_each(q, -1, CCO_NO_PEER);
}

cco_group cco_lane_group(const cco_problem *q)
{
    return one_of_each(q, q->nodes->place[q->rank], CCO_NO_PEER);
}

int cco_leader_place(const cco_problem *q, const cco_group *leaders)
{
    return q->nodes->place[cco_group_rank(leaders, q->nodes->node[q->rank])];
}

cco_side cco_side_of(cco_span span)
{
    return (cco_side){
        .base = span.base, .blocks = 1, .layout = span.layout, .start = span.at, .each = span.n};
}

cco_side cco_side_parts(cco_sched *s, cco_span span, int parts)
{
    cco_side side = cco_side_of(span);
    side.blocks = parts;
    side.each = span.n / (size_t)parts;
    if (parts > 1)
        side.pitch = cco_part(s, span, side.each, side.each).at - span.at;
    return side;
}

cco_span *cco_block_list(cco_sched *s, int count)
{
    return cco_builder_memory(s, (size_t)count * sizeof(cco_span));
}

cco_side cco_side_blocks(cco_sched *s, const cco_span *blocks, int count)
{
    size_t *n = cco_builder_memory(s, (size_t)count * sizeof *n);
    ptrdiff_t *at = cco_builder_memory(s, (size_t)count * sizeof *at);
    if (blocks == NULL || n == NULL || at == NULL)
        return (cco_side){.blocks = count};
    cco_side side = cco_side_of(blocks[0]);
    for (int i = 0; i < count; i++) {
        n[i] = blocks[i].n;
        at[i] = blocks[i].at;
    }
    side.blocks = count;
    side.n = n;
    side.at = at;
    return side;
}

cco_problem cco_group_problem(const cco_problem *q, const cco_group *group, cco_coll coll,
                              size_t bytes)
{
    return (cco_problem){.coll = coll,
                         .rank = group->place,
                         .size = group->size,
                         .commutative = q->commutative,
                         .bytes = bytes,
                         .unit = q->unit,
                         .layouts = q->layouts};
}

/* For each collective by bytes of a call: fewest messages, then fewest bytes over a link that all
 * ranks of a node share, where that does not take a round for each rank and little in each.  The
 * last of a collective can do every problem. */
static const struct {
    cco_coll coll;
    size_t most;
    const cco_algo *algo;
    bool in_turn; /* as many rounds as ranks */
} suited[] = {
    {CCO_BARRIER, SIZE_MAX, &cco_barrier_dissemination, false},
    {CCO_BCAST, 16 << 10, &cco_bcast_binomial, false},
    {CCO_BCAST, SIZE_MAX, &cco_bcast_scatter_allgather, false},
    {CCO_REDUCE, 16 << 10, &cco_reduce_binomial, false},
    {CCO_REDUCE, SIZE_MAX, &cco_reduce_chain, true},
    {CCO_REDUCE, SIZE_MAX, &cco_reduce_rabenseifner, false},
    {CCO_REDUCE, SIZE_MAX, &cco_reduce_binomial, false},
    {CCO_ALLREDUCE, 8 << 10, &cco_allreduce_recursive_doubling, false},
    {CCO_ALLREDUCE, SIZE_MAX, &cco_allreduce_ring, true},
    {CCO_ALLREDUCE, SIZE_MAX, &cco_allreduce_rabenseifner, false},
    {CCO_GATHER, 2 << 10, &cco_gather_binomial, false},
    {CCO_GATHER, SIZE_MAX, &cco_gather_linear, false},
    {CCO_SCATTER, 2 << 10, &cco_scatter_binomial, false},
    {CCO_SCATTER, SIZE_MAX, &cco_scatter_linear, false},
    {CCO_GATHERV, 2 << 10, &cco_gather_binomial, false},
    {CCO_GATHERV, SIZE_MAX, &cco_gather_linear, false},
    {CCO_SCATTERV, 2 << 10, &cco_scatter_binomial, false},
    {CCO_SCATTERV, SIZE_MAX, &cco_scatter_linear, false},
    {CCO_ALLGATHERV, 8 << 10, &cco_allgather_bruck, false},
    {CCO_ALLGATHERV, SIZE_MAX, &cco_allgather_ring, true},
    {CCO_ALLGATHERV, SIZE_MAX, &cco_allgather_bruck, false},
    {CCO_REDUCE_SCATTER, SIZE_MAX, &cco_reduce_scatter_pairwise, true},
    {CCO_REDUCE_SCATTER, SIZE_MAX, &cco_reduce_scatter_recursive_halving, false},
    {CCO_REDUCE_SCATTER, SIZE_MAX, &cco_reduce_scatter_pairwise, false},
    {CCO_ALLTOALL, SIZE_MAX, &cco_alltoall_linear, false},
    {CCO_ALLTOALLV, SIZE_MAX, &cco_alltoall_linear, false},
    {CCO_SCAN, SIZE_MAX, &cco_scan_recursive_doubling, false},
    {CCO_EXSCAN, SIZE_MAX, &cco_exscan_recursive_doubling, false},
};

/* A round for each of many ranks, with little in it, takes longer than what it saves. */
static bool is_worth(const cco_problem *part)
{
    enum { FEW = 8, EACH = 8 << 10 };
    return part->size <= FEW || part->bytes / (size_t)part->size >= EACH;
}

static const cco_algo *algo_for(const cco_problem *part)
{
    int i = 0;
    while (suited[i].coll != part->coll || part->bytes > suited[i].most ||
           (suited[i].in_turn && !is_worth(part)) || cco_algo_refuses(suited[i].algo, part) != NULL)
        i++;
    return suited[i].algo;
}

void cco_group_run(cco_sched *s, cco_problem *part, const cco_group *group)
{
    const cco_algo *algo = algo_for(part);
    for (int i = 0; i < CCO_PARAMS && algo->params[i].name != NULL; i++)
        part->params[i] = algo->params[i].preset;
    cco_round(s);
    cco_within(s, group);
    algo->build(s, part);
    cco_within(s, NULL);
    cco_round(s);
}
