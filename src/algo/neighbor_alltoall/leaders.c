/* SPDX-License-Identifier: BSD-3-Clause */
/* neighbor_alltoall, neighbor_alltoallv, neighbor_alltoallw "leaders": what goes from one node to
 * another goes through their first ranks, in one message; what stays on a node goes straight.
 *
 *   messages between nodes: 1 for each two nodes with an edge   bytes: each block once
 *   scratch twice what leaves a node and what comes to it, on its leader
 *   before: the sizes of a rank's blocks to its leader, 16 bytes for each rank on other nodes
 *
 * What two ranks exchange in more than `most` bytes goes straight, too: both know its size, and so
 * do their leaders.  For networks where a message costs much more than a copy, as over TCP. */
#include "algo/algo.h"

#include <stdlib.h>

#include "algo/pattern/neighbor_common.h"
#include "sched/neighbor_mates.h"

static const char *neighbor_alltoall_leaders_refuses(const cco_problem *q)
{
    return q->near != NULL && q->near->mates == NULL
               ? "the ranks of a node do not know each other's neighbours"
               : NULL;
}

/* What goes from one rank to another on another node, in all. */
typedef struct pair {
    int node;     /* the other one */
    int from, to; /* places */
    size_t n;
    const cco_neighbor_edges *edges; /* if this rank is one of the two */
} pair;

/* What this rank gives to other nodes, or takes from them; a leader: what its node does. */
typedef struct traffic {
    pair *pairs; /* by node, then by sender, then by receiver, on both sides */
    int count;
    size_t all, own;                  /* bytes; of this rank's */
    const cco_neighbor_edges *direct; /* the edges of this rank that are in no pair */
} traffic;

static bool neighbor_alltoall_leaders_leads(const cco_problem *q)
{
    return q->nodes->place[q->rank] == 0;
}

/* The leader knows the sizes of all ranks of its node, others their own, as the first. */
static size_t neighbor_alltoall_leaders_size_of(const cco_problem *q, int place, bool given,
                                                int slot)
{
    const size_t most = (size_t)q->near->mates->most;
    return q->counts[(2 * (size_t)place + !given) * most + (size_t)slot];
}

static bool is_long(const cco_problem *q, size_t n)
{
    return n > (size_t)q->params[0];
}

static int by_place(const void *a, const void *b)
{
    const pair *x = a, *y = b;
    const int node = x->node - y->node, from = x->from - y->from;
    return node != 0 ? node : from != 0 ? from : x->to - y->to;
}

/* The edges of this rank by slot; the list of those that go straight to `t`. */
static const cco_neighbor_edges **sort_edges(cco_sched *s, const cco_problem *q, bool given,
                                             traffic *t)
{
    const cco_neighbor_edges *edges = cco_neighbor_by_peer(s, q, given);
    const int degree = given ? q->near->degrees.out : q->near->degrees.in;
    const int *slot = given ? q->near->mates->out_slot : q->near->mates->in_slot;
    const size_t room = (size_t)degree + 1;
    cco_neighbor_edges *direct = cco_builder_memory(s, room * sizeof *direct);
    const cco_neighbor_edges **in_slot = cco_builder_memory(s, room * sizeof *in_slot);
    int count = 0;
    if (edges == NULL || direct == NULL || in_slot == NULL)
        return NULL;
    for (; edges->count > 0; edges++) {
        const int its = slot[edges->blocks[0]];
        if (its != CCO_NO_PEER)
            in_slot[its] = edges;
        if (its == CCO_NO_PEER || is_long(q, neighbor_alltoall_leaders_size_of(q, 0, given, its)))
            direct[count++] = *edges;
    }
    direct[count] = (cco_neighbor_edges){.count = 0};
    t->direct = direct;
    return in_slot;
}

static pair pair_of(const cco_problem *q, const cco_neighbor_pair *p, bool given, size_t n)
{
    const cco_node_map *map = q->nodes;
    const int there = map->place[p->peer];
    return (pair){.node = map->node[p->peer],
                  .from = given ? p->place : there,
                  .to = given ? there : p->place,
                  .n = n};
}

static bool list_traffic(cco_sched *s, const cco_problem *q, bool given, traffic *t)
{
    const cco_neighbor_mates *mates = q->near->mates;
    const cco_neighbor_pair *list = given ? mates->to : mates->list;
    const int count = given ? mates->sends : mates->count, mine = q->nodes->place[q->rank];
    const int ranks = cco_node_ranks(q->nodes, q->nodes->node[q->rank]);
    int *next = cco_builder_memory(s, (size_t)ranks * sizeof *next);
    *t = (traffic){.pairs = cco_builder_memory(s, (size_t)count * sizeof *t->pairs)};
    const cco_neighbor_edges **in_slot = sort_edges(s, q, given, t);
    if (next == NULL || t->pairs == NULL || in_slot == NULL)
        return false;
    for (int i = 0; i < ranks; i++)
        next[i] = 0;
    for (int i = 0; i < count; i++) {
        const int place = list[i].place, slot = next[place]++;
        if (place != mine && !neighbor_alltoall_leaders_leads(q))
            continue;
        const size_t n = neighbor_alltoall_leaders_size_of(
            q, neighbor_alltoall_leaders_leads(q) ? place : 0, given, slot);
        if (n == 0 || is_long(q, n))
            continue;
        pair p = pair_of(q, &list[i], given, n);
        p.edges = place == mine ? in_slot[slot] : NULL;
        t->all += n;
        t->own += place == mine ? n : 0;
        t->pairs[t->count++] = p;
    }
    qsort(t->pairs, (size_t)t->count, sizeof *t->pairs, by_place);
    return true;
}

/* The next pairs with the same node and, if `apart`, the same sender: their bytes, and their end,
 * from the `i`th pair on. */
static size_t run_of(const traffic *t, int *i, bool apart)
{
    const pair *first = &t->pairs[*i];
    size_t n = 0;
    for (; *i < t->count && t->pairs[*i].node == first->node &&
           (!apart || t->pairs[*i].from == first->from);
         (*i)++)
        n += t->pairs[*i].n;
    return n;
}

/* Copies what this rank itself gives to where it lies among the pairs. */
static void neighbor_alltoall_leaders_pack(cco_sched *s, const cco_problem *q, const traffic *t,
                                           cco_span room)
{
    size_t at = 0;
    for (int i = 0; i < t->count; at += t->pairs[i++].n)
        if (t->pairs[i].edges != NULL)
            cco_neighbor_copy(s, q, t->pairs[i].edges, true, room, at);
}

/* A leader gets what the others of its node give to each other one. */
static void neighbor_alltoall_leaders_collect(cco_sched *s, const cco_problem *q,
                                              const traffic *give, cco_span given)
{
    size_t at = 0;
    for (int i = 0; i < give->count;) {
        const int from = give->pairs[i].from;
        const size_t n = run_of(give, &i, true);
        if (from > 0)
            cco_recv(s, cco_node_rank(q->nodes, q->nodes->node[q->rank], from),
                     cco_part(s, given, at, n));
        at += n;
    }
}

/* To the leader of each node, or from there; for a node that is not given, to the own leader. */
static void pass_nodes(cco_sched *s, const cco_problem *q, const traffic *t, cco_span room,
                       bool given, bool lead)
{
    const int own = q->nodes->node[q->rank];
    size_t at = 0;
    for (int i = 0; i < t->count;) {
        const int peer = cco_node_rank(q->nodes, lead ? t->pairs[i].node : own, 0);
        const size_t n = run_of(t, &i, false);
        if (given)
            cco_send(s, peer, cco_part(s, room, at, n));
        else
            cco_recv(s, peer, cco_part(s, room, at, n));
        at += n;
    }
}

/* What came lies by node, then by sender: each rank gets its own, by node and sender, too. */
static void neighbor_alltoall_leaders_deal(cco_sched *s, const cco_problem *q, const traffic *take,
                                           cco_span got, cco_span packed)
{
    const int own = q->nodes->node[q->rank], ranks = cco_node_ranks(q->nodes, own);
    size_t *at = cco_builder_memory(s, (size_t)ranks * sizeof *at), next = 0, from = 0;
    size_t *all = cco_builder_memory(s, (size_t)ranks * sizeof *all);
    if (at == NULL || all == NULL)
        return;
    for (int j = 0; j < ranks; j++)
        all[j] = 0;
    for (int i = 0; i < take->count; i++)
        all[take->pairs[i].to] += take->pairs[i].n;
    for (int j = 0; j < ranks; j++) {
        at[j] = next;
        next += j > 0 ? all[j] : 0;
    }
    for (int i = 0; i < take->count; i++) {
        const pair *p = &take->pairs[i];
        if (p->to == 0)
            cco_neighbor_copy(s, q, p->edges, false, got, from);
        else
            cco_copy(s, cco_part(s, got, from, p->n), cco_part(s, packed, at[p->to], p->n));
        at[p->to] += p->n;
        from += p->n;
    }
    cco_round(s);
    for (int j = 1; j < ranks; j++)
        cco_send(s, cco_node_rank(q->nodes, own, j), cco_part(s, packed, at[j] - all[j], all[j]));
}

static void neighbor_alltoall_leaders_lead(cco_sched *s, const cco_problem *q, const traffic *give,
                                           const traffic *take, const cco_neighbor_common *direct)
{
    const cco_span given = cco_scratch(s, give->all), got = cco_scratch(s, take->all);
    const cco_span packed = cco_scratch(s, take->all - take->own);
    cco_neighbor_common_pack(s, q, direct);
    neighbor_alltoall_leaders_pack(s, q, give, given);
    neighbor_alltoall_leaders_collect(s, q, give, given);
    cco_round(s);
    pass_nodes(s, q, take, got, false, true);
    pass_nodes(s, q, give, given, true, true);
    cco_neighbor_common_exchange(s, q, direct);
    cco_neighbor_loops(s, q);
    cco_round(s);
    cco_neighbor_common_unpack(s, q, direct);
    neighbor_alltoall_leaders_deal(s, q, take, got, packed);
}

/* Messages with the leader come in the order in which it has them: straight ones before its own. */
static void neighbor_alltoall_leaders_follow(cco_sched *s, const cco_problem *q,
                                             const traffic *give, const traffic *take,
                                             const cco_neighbor_common *direct)
{
    const cco_span given = cco_scratch(s, give->all), got = cco_scratch(s, take->all);
    const int leader = cco_node_rank(q->nodes, q->nodes->node[q->rank], 0);
    size_t at = 0;
    cco_neighbor_common_pack(s, q, direct);
    neighbor_alltoall_leaders_pack(s, q, give, given);
    cco_round(s);
    pass_nodes(s, q, give, given, true, false);
    cco_neighbor_common_exchange(s, q, direct);
    cco_neighbor_loops(s, q);
    cco_recv(s, leader, got);
    cco_round(s);
    cco_neighbor_common_unpack(s, q, direct);
    for (int i = 0; i < take->count; i++)
        at = cco_neighbor_copy(s, q, take->pairs[i].edges, false, got, at);
}

static void neighbor_alltoall_leaders_build(cco_sched *s, const cco_problem *q)
{
    traffic give, take;
    if (!list_traffic(s, q, true, &give) || !list_traffic(s, q, false, &take))
        return;
    const cco_neighbor_common direct = cco_neighbor_common_make(s, q, take.direct, give.direct,
                                                                CCO_NEAR_MOST);
    (neighbor_alltoall_leaders_leads(q)
         ? neighbor_alltoall_leaders_lead
         : neighbor_alltoall_leaders_follow)(s, q, &give, &take, &direct);
}

const cco_algo cco_neighbor_alltoall_leaders = {
    .name = "leaders",
    .doc = "through one rank of each node, in one message to each other node",
    .refuses = neighbor_alltoall_leaders_refuses,
    .build = neighbor_alltoall_leaders_build,
    .shares_counts = true,
    .params = {{"most", 4000, 0, 1 << 30, "bytes between two ranks that go through leaders"}},
};
