/* SPDX-License-Identifier: BSD-3-Clause */
/* neighbor_mates.c - see neighbor_mates.h. */
#include "sched/neighbor_mates.h"

#include <stdlib.h>

static int neighbor_mates_by_peer(const void *a, const void *b)
{
    const cco_neighbor_pair *x = a, *y = b;
    const int peer = (x->peer > y->peer) - (x->peer < y->peer);
    return peer != 0 ? peer : (x->place > y->place) - (x->place < y->place);
}

static size_t neighbor_mates_sum(const int *degrees, int n)
{
    size_t all = 0;
    for (int i = 0; i < n; i++)
        all += (size_t)degrees[i];
    return all;
}

/* Fills a list of pairs; returns how many there are. */
static int list_pairs(const cco_node_map *map, int node, const cco_neighbor_lists *all,
                      cco_neighbor_pair *list)
{
    const int *peer = all->peers;
    int found = 0, kept = 0;
    for (int place = 0; place < cco_node_ranks(map, node); place++)
        for (int i = 0; i < all->degrees[place]; i++, peer++)
            if (*peer != CCO_NO_PEER && map->node[*peer] != node)
                list[found++] = (cco_neighbor_pair){*peer, place};
    if (found > 0)
        qsort(list, (size_t)found, sizeof *list, neighbor_mates_by_peer);
    for (int i = 0; i < found; i++)
        if (i == 0 || neighbor_mates_by_peer(&list[i], &list[i - 1]) != 0)
            list[kept++] = list[i];
    return kept;
}

/* Numbers the edges of a rank by their peers on other nodes.  `room` is for as many pairs. */
static void neighbor_mates_number(const cco_node_map *map, int node, const int *peers, int degree,
                                  cco_neighbor_pair *room, int *slot)
{
    int found = 0, last = -1;
    for (int i = 0; i < degree; i++) {
        slot[i] = CCO_NO_PEER;
        if (peers[i] != CCO_NO_PEER && map->node[peers[i]] != node)
            room[found++] = (cco_neighbor_pair){peers[i], i};
    }
    if (found > 0)
        qsort(room, (size_t)found, sizeof *room, neighbor_mates_by_peer);
    for (int i = 0; i < found; i++) {
        last += i == 0 || room[i].peer != room[i - 1].peer;
        slot[room[i].place] = last;
    }
}

/* The most peers that a rank of the node has, in a list of `count` pairs. */
static int neighbor_mates_most_of(const cco_neighbor_pair *list, int count, int *degrees,
                                  int places, int most)
{
    for (int i = 0; i < places; i++)
        degrees[i] = 0;
    for (int i = 0; i < count; i++)
        if (++degrees[list[i].place] > most)
            most = degrees[list[i].place];
    return most;
}

cco_neighbor_mates *cco_neighbor_mates_new(const cco_node_map *map, int node,
                                           const cco_neighbors *near, const cco_neighbor_lists *in,
                                           const cco_neighbor_lists *out)
{
    const int places = cco_node_ranks(map, node);
    const cco_degrees own = near->degrees;
    const size_t arrive = neighbor_mates_sum(in->degrees, places),
                 leave = neighbor_mates_sum(out->degrees, places);
    const size_t most = (size_t)(own.in > own.out ? own.in : own.out);
    const size_t ints = (size_t)own.in + (size_t)own.out + (size_t)places;
    cco_neighbor_mates *mates = malloc(
        sizeof *mates + (arrive + leave + most) * sizeof(cco_neighbor_pair) + ints * sizeof(int));
    if (mates == NULL)
        return NULL;
    cco_neighbor_pair *list = (cco_neighbor_pair *)(mates + 1), *to = list + arrive,
                      *room = to + leave;
    int *in_slot = (int *)(room + most), *out_slot = in_slot + own.in;
    *mates = (cco_neighbor_mates){.list = list, .to = to, .in_slot = in_slot, .out_slot = out_slot};
    mates->count = list_pairs(map, node, in, list);
    mates->sends = list_pairs(map, node, out, to);
    neighbor_mates_number(map, node, near->in, own.in, room, in_slot);
    neighbor_mates_number(map, node, near->out, own.out, room, out_slot);
    mates->most = neighbor_mates_most_of(list, mates->count, out_slot + own.out, places, 0);
    mates->most = neighbor_mates_most_of(to, mates->sends, out_slot + own.out, places, mates->most);
    return mates;
}

static int neighbor_mates_by_node(const void *a, const void *b)
{
    const int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

bool cco_neighbor_sends_of(const cco_neighbor_mates *mates, const cco_node_map *map, int rank,
                           cco_neighbor_sends *sends)
{
    int *nodes = malloc(((size_t)mates->sends + 1) * sizeof *nodes);
    *sends = (cco_neighbor_sends){0, 0};
    if (nodes == NULL)
        return false;
    for (int i = 0; i < mates->sends; i++)
        if (mates->to[i].place == map->place[rank])
            nodes[sends->ranks++] = map->node[mates->to[i].peer];
    if (sends->ranks > 0)
        qsort(nodes, (size_t)sends->ranks, sizeof *nodes, neighbor_mates_by_node);
    for (long i = 0; i < sends->ranks; i++)
        sends->nodes += i == 0 || nodes[i] != nodes[i - 1];
    free(nodes);
    return true;
}

/* A block that is passed on comes a message later: what leaders save has to make up for that.
 * Simulated on two machines, with a quarter of the messages they take 0.5 to 0.8 of the time from
 * 512 bytes on, and 1.1 to 1.3 of it with 8 bytes (docs/lab/neighbors.md). */
bool cco_neighbor_spare(const cco_neighbor_sends *all)
{
    return all->ranks > 0 && all->ranks >= 2 * all->nodes;
}
