/* SPDX-License-Identifier: BSD-3-Clause */
/* alltoallv, alltoallw "leaders": what leaves a node goes through one of its ranks, in one message
 * to each other node; what stays goes straight.
 *
 *   messages between nodes: at most N - 1 of each of N nodes   bytes: each block once
 *   scratch twice what leaves a node and what comes to it, on its leader
 *   before: the sizes of a rank's blocks to its leader, 16p bytes
 *
 * For small blocks, where messages cost more than bytes. */
#include "algo/algo.h"

#include "algo/pattern/groups.h"

/* Bytes that the `i`th rank of the node gives to `rank`, or takes from it.  The leader knows them
 * of all, others of themselves, as the first. */
static size_t alltoallv_leaders_given(const cco_problem *q, int i, int rank)
{
    return q->counts[2 * (size_t)i * (size_t)q->size + (size_t)rank];
}

static size_t alltoallv_leaders_taken(const cco_problem *q, int i, int rank)
{
    return q->counts[(2 * (size_t)i + 1) * (size_t)q->size + (size_t)rank];
}

/* What a rank exchanges with all ranks of a node. */
static size_t with_node(const cco_problem *q, int i, int node,
                        size_t (*size)(const cco_problem *q, int i, int rank))
{
    size_t n = 0;
    for (int j = 0; j < cco_node_ranks(q->nodes, node); j++)
        n += size(q, i, cco_node_rank(q->nodes, node, j));
    return n;
}

/* What a rank exchanges with all ranks of all other nodes. */
static size_t with_others(const cco_problem *q, int i,
                          size_t (*size)(const cco_problem *q, int i, int rank))
{
    size_t n = 0;
    for (int k = 0; k < q->nodes->count; k++)
        n += k != q->nodes->node[q->rank] ? with_node(q, i, k, size) : 0;
    return n;
}

/* What all ranks of the node exchange. */
static size_t of_all(const cco_problem *q, const cco_group *node,
                     size_t (*size)(const cco_problem *q, int i, int rank))
{
    size_t n = 0;
    for (int i = 0; i < node->size; i++)
        n += with_others(q, i, size);
    return n;
}

/* Within the node every rank sends straight to every other. */
static void exchange_near(cco_sched *s, const cco_problem *q, const cco_group *node)
{
    cco_copy(s, cco_block(q, &q->in, q->rank), cco_block(q, &q->out, q->rank));
    for (int step = 1; step < node->size; step++) {
        const int to = node->ranks[(node->place + step) % node->size];
        const int from = node->ranks[(node->place - step + node->size) % node->size];
        cco_send(s, to, cco_block(q, &q->in, to));
        cco_recv(s, from, cco_block(q, &q->out, from));
    }
}

/* Copies this rank's blocks for a node, or from it, one after the other from byte `at` of `packed`
 * on.  Returns their end. */
static size_t alltoallv_leaders_copy_blocks(cco_sched *s, const cco_problem *q, int node,
                                            cco_span packed, size_t at, bool back)
{
    for (int j = 0; j < cco_node_ranks(q->nodes, node); j++) {
        const int rank = cco_node_rank(q->nodes, node, j);
        const cco_span block = cco_block(q, back ? &q->out : &q->in, rank);
        const cco_span there = cco_part(s, packed, at, block.n);
        cco_copy(s, back ? there : block, back ? block : there);
        at += block.n;
    }
    return at;
}

/* A rank that does not lead: to its leader, in a message for each node, and back in one. */
static void alltoallv_leaders_follow(cco_sched *s, const cco_problem *q, int leader)
{
    const int mine = q->nodes->node[q->rank];
    const cco_span give = cco_scratch(s, with_others(q, 0, alltoallv_leaders_given));
    const cco_span got = cco_scratch(s, with_others(q, 0, alltoallv_leaders_taken));
    size_t at = 0;
    for (int k = 0; k < q->nodes->count; k++)
        if (k != mine)
            at = alltoallv_leaders_copy_blocks(s, q, k, give, at, false);
    cco_round(s);
    at = 0;
    for (int k = 0; k < q->nodes->count; k++) {
        const size_t n = k != mine ? with_node(q, 0, k, alltoallv_leaders_given) : 0;
        cco_send(s, leader, cco_part(s, give, at, n));
        at += n;
    }
    cco_round(s);
    cco_recv(s, leader, got);
    cco_round(s);
    at = 0;
    for (int k = 0; k < q->nodes->count; k++)
        if (k != mine)
            at = alltoallv_leaders_copy_blocks(s, q, k, got, at, true);
}

/* What the node gives to each other, rank after rank. */
static void alltoallv_leaders_collect(cco_sched *s, const cco_problem *q, const cco_group *node,
                                      cco_span give)
{
    size_t at = 0;
    for (int k = 0; k < q->nodes->count; k++) {
        if (k == q->nodes->node[q->rank])
            continue;
        at = alltoallv_leaders_copy_blocks(s, q, k, give, at, false);
        for (int i = 1; i < node->size; i++) {
            const size_t n = with_node(q, i, k, alltoallv_leaders_given);
            cco_recv(s, node->ranks[i], cco_part(s, give, at, n));
            at += n;
        }
    }
}

static void exchange_far(cco_sched *s, const cco_problem *q, const cco_group *leaders, int here,
                         cco_span give, cco_span got)
{
    size_t at = 0, from = 0;
    for (int k = 0; k < leaders->size; k++) {
        size_t n = 0, m = 0;
        for (int i = 0; i < here && k != leaders->place; i++) {
            n += with_node(q, i, k, alltoallv_leaders_given);
            m += with_node(q, i, k, alltoallv_leaders_taken);
        }
        cco_send(s, cco_group_rank(leaders, k), cco_part(s, give, at, n));
        cco_recv(s, cco_group_rank(leaders, k), cco_part(s, got, from, m));
        at += n;
        from += m;
    }
}

/* What came lies by node, by rank there, by rank here: each of these ranks gets its own. */
static void alltoallv_leaders_deal(cco_sched *s, const cco_problem *q, const cco_group *node,
                                   cco_span got, cco_span packed)
{
    const cco_node_map *map = q->nodes;
    const size_t ranks = (size_t)node->size;
    size_t from = 0, next = 0;
    size_t *at = cco_builder_memory(s, ranks * sizeof *at);
    size_t *all = cco_builder_memory(s, ranks * sizeof *all);
    if (at == NULL || all == NULL)
        return;
    for (int j = 0; j < node->size; j++) { /* the leader's own go where they belong */
        at[j] = next;
        all[j] = with_others(q, j, alltoallv_leaders_taken);
        next += j > 0 ? all[j] : 0;
    }
    for (int k = 0; k < map->count; k++)
        for (int i = 0; k != map->node[q->rank] && i < cco_node_ranks(map, k); i++)
            for (int j = 0; j < node->size; j++) {
                const int rank = cco_node_rank(map, k, i);
                const cco_span block = cco_part(s, got, from, alltoallv_leaders_taken(q, j, rank));
                cco_copy(s, block,
                         j == 0 ? cco_block(q, &q->out, rank)
                                : cco_part(s, packed, at[j], block.n));
                from += block.n;
                at[j] += block.n;
            }
    cco_round(s);
    for (int j = 1; j < node->size; j++)
        cco_send(s, node->ranks[j], cco_part(s, packed, at[j] - all[j], all[j]));
}

static void alltoallv_leaders_build(cco_sched *s, const cco_problem *q)
{
    const cco_group node = cco_node_group(q);
    const cco_group leaders = cco_first_group(q);
    exchange_near(s, q, &node);
    if (leaders.place < 0) {
        alltoallv_leaders_follow(s, q, node.ranks[0]);
        return;
    }
    const size_t all = of_all(q, &node, alltoallv_leaders_taken);
    const cco_span give = cco_scratch(s, of_all(q, &node, alltoallv_leaders_given)),
                   got = cco_scratch(s, all);
    const cco_span packed = cco_scratch(s, all - with_others(q, 0, alltoallv_leaders_taken));
    alltoallv_leaders_collect(s, q, &node, give);
    cco_round(s);
    exchange_far(s, q, &leaders, node.size, give, got);
    cco_round(s);
    alltoallv_leaders_deal(s, q, &node, got, packed);
}

const cco_algo cco_alltoallv_leaders = {
    .name = "leaders",
    .doc = "through one rank of each node, in one message to each other node",
    .build = alltoallv_leaders_build,
    .shares_counts = true,
};
