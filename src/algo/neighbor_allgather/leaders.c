/* SPDX-License-Identifier: BSD-3-Clause */
/* neighbor_allgather, neighbor_allgatherv "leaders": a block goes once into every other node where
 * somebody needs it, to one of those, which passes it on to the others there.
 *
 *   messages between nodes: one for each rank and other node with neighbors of it
 *   bytes between nodes n for each of these   scratch 0
 *
 * The sender of a block says which rank leads for it: so ranks of a node share the work, and none
 * gets what it does not need. */
#include "algo/algo.h"

#include <stdlib.h>
#include <string.h>

#include "algo/pattern/neighbor.h"
#include "sched/neighbor_mates.h"

static const char *neighbor_allgather_leaders_refuses(const cco_problem *q)
{
    return q->near != NULL && q->near->mates == NULL
               ? "the ranks of a node do not know each other's neighbours"
               : NULL;
}

/* The lists of a rank: its own, and what arrives at its node. */
typedef struct lists {
    const cco_neighbor_edges *in, *out;
    const cco_neighbor_edges *sorted; /* `in`, by rank */
    size_t count;                     /* of these */
    const cco_neighbor_mates *mates;
} lists;

/* Which of so many ranks that need a block of `source` leads. */
static int neighbor_allgather_leaders_turn_of(int source, int count)
{
    return source % count;
}

/* Where the pairs of the next source begin. */
static int next_source(const cco_neighbor_mates *mates, int first)
{
    int end = first + 1;
    while (end < mates->count && mates->list[end].peer == mates->list[first].peer)
        end++;
    return end;
}

static int neighbor_allgather_leaders_by_peer(const void *a, const void *b)
{
    const cco_neighbor_edges *x = a, *y = b;
    return x->peer - y->peer;
}

static bool neighbor_allgather_leaders_sort(cco_sched *s, lists *l)
{
    while (l->in[l->count].count > 0)
        l->count++;
    cco_neighbor_edges *sorted = cco_builder_memory(s, l->count * sizeof *sorted);
    if (sorted == NULL)
        return false;
    memcpy(sorted, l->in, l->count * sizeof *sorted);
    qsort(sorted, l->count, sizeof *sorted, neighbor_allgather_leaders_by_peer);
    l->sorted = sorted;
    return true;
}

static const cco_neighbor_edges *edges_from(const lists *l, int source)
{
    const cco_neighbor_edges wanted = {.peer = source};
    return bsearch(&wanted, l->sorted, l->count, sizeof wanted, neighbor_allgather_leaders_by_peer);
}

/* What this rank is for the block of a source that arrives at its node. */
typedef struct part {
    int leader; /* its place */
    bool leads, gets;
    cco_span block;
} part;

static part part_in(const cco_problem *q, const lists *l, int first, int end)
{
    const cco_neighbor_pair *list = l->mates->list;
    const int mine = q->nodes->place[q->rank];
    part p = {
        .leader =
            list[first + neighbor_allgather_leaders_turn_of(list[first].peer, end - first)].place};
    for (int i = first; i < end; i++)
        p.gets = p.gets || list[i].place == mine;
    p.leads = p.leader == mine;
    if (p.gets)
        p.block = cco_block(q, &q->out, edges_from(l, list[first].peer)->blocks[0]);
    return p;
}

/* From ranks of this node, and as a leader from those of others. */
static void neighbor_allgather_leaders_receive(cco_sched *s, const cco_problem *q, const lists *l)
{
    const int *node = q->nodes->node;
    for (const cco_neighbor_edges *from = l->in; from->count > 0; from++)
        if (node[from->peer] == node[q->rank])
            cco_recv(s, from->peer, cco_block(q, &q->out, from->blocks[0]));
    for (int first = 0, end; first < l->mates->count; first = end) {
        end = next_source(l->mates, first);
        const part p = part_in(q, l, first, end);
        if (p.leads)
            cco_recv(s, l->mates->list[first].peer, p.block);
    }
}

static int neighbor_allgather_leaders_by_node(const void *a, const void *b)
{
    const cco_neighbor_pair *x = a, *y = b;
    return x->peer != y->peer ? x->peer - y->peer : x->place - y->place;
}

/* The neighbors that this rank sends to as node (`peer`) and place, in their order. */
static int neighbor_allgather_leaders_list_targets(const cco_problem *q,
                                                   const cco_neighbor_edges *out,
                                                   cco_neighbor_pair *targets)
{
    int count = 0;
    for (; out->count > 0; out++)
        targets[count++] = (cco_neighbor_pair){q->nodes->node[out->peer],
                                               q->nodes->place[out->peer]};
    qsort(targets, (size_t)count, sizeof *targets, neighbor_allgather_leaders_by_node);
    return count;
}

static void neighbor_allgather_leaders_send(cco_sched *s, const cco_problem *q, const lists *l)
{
    const int own = q->nodes->node[q->rank];
    cco_neighbor_pair *targets = cco_builder_memory(s,
                                                    (size_t)q->near->degrees.out * sizeof *targets);
    if (targets == NULL)
        return;
    const int count = neighbor_allgather_leaders_list_targets(q, l->out, targets);
    for (int first = 0, end; first < count; first = end) {
        const int node = targets[first].peer;
        for (end = first; end < count && targets[end].peer == node; end++)
            if (node == own)
                cco_send(s, cco_node_rank(q->nodes, node, targets[end].place), cco_whole(&q->in));
        const int place =
            targets[first + neighbor_allgather_leaders_turn_of(q->rank, end - first)].place;
        if (node != own)
            cco_send(s, cco_node_rank(q->nodes, node, place), cco_whole(&q->in));
    }
}

/* Leaders pass on what they have got, in the order of its senders. */
static void neighbor_allgather_leaders_pass_on(cco_sched *s, const cco_problem *q, const lists *l)
{
    const int own = q->nodes->node[q->rank], mine = q->nodes->place[q->rank];
    for (int first = 0, end; first < l->mates->count; first = end) {
        end = next_source(l->mates, first);
        const part p = part_in(q, l, first, end);
        for (int i = first; i < end && p.leads; i++)
            if (l->mates->list[i].place != mine)
                cco_send(s, cco_node_rank(q->nodes, own, l->mates->list[i].place), p.block);
        if (p.gets && !p.leads)
            cco_recv(s, cco_node_rank(q->nodes, own, p.leader), p.block);
    }
}

static void neighbor_allgather_leaders_build(cco_sched *s, const cco_problem *q)
{
    lists l = {.in = cco_neighbor_by_peer(s, q, false),
               .out = cco_neighbor_by_peer(s, q, true),
               .mates = q->near->mates};
    if (l.in == NULL || l.out == NULL || !neighbor_allgather_leaders_sort(s, &l))
        return;
    neighbor_allgather_leaders_receive(s, q, &l);
    neighbor_allgather_leaders_send(s, q, &l);
    cco_neighbor_loops(s, q);
    cco_round(s);
    neighbor_allgather_leaders_pass_on(s, q, &l);
    cco_round(s);
    for (const cco_neighbor_edges *from = l.in; from->count > 0; from++)
        for (int i = 1; i < from->count; i++)
            cco_copy(s, cco_block(q, &q->out, from->blocks[0]),
                     cco_block(q, &q->out, from->blocks[i]));
}

const cco_algo cco_neighbor_allgather_leaders = {
    .name = "leaders",
    .doc = "a block once into every other node, to one rank that needs it",
    .refuses = neighbor_allgather_leaders_refuses,
    .build = neighbor_allgather_leaders_build,
};
