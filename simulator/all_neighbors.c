/* SPDX-License-Identifier: BSD-3-Clause */
/* all_neighbors.c - see all_neighbors.h. */
#include "simulator/all_neighbors.h"

#include <stdlib.h>

#include "comm/stencil.h"
#include "sched/neighbor_mates.h"

static uint64_t find_stencil(const cco_neighbors *near, int size)
{
    uint64_t number = 0;
    for (int i = 0; i < size;) {
        const uint64_t seen = cco_stencil_next(&near[i], i, size, number);
        if (seen == CCO_NO_STENCIL)
            return seen;
        i = seen == number ? i + 1 : 0;
        number = seen;
    }
    return number;
}

bool cco_all_neighbors_give_stencil(cco_neighbors *near, int size)
{
    const uint64_t number = find_stencil(near, size);
    for (int i = 0; i < size && number != CCO_NO_STENCIL; i++) {
        near[i].stencil = malloc(sizeof *near[i].stencil);
        if (near[i].stencil == NULL)
            return false;
        cco_stencil_describe(near[i].stencil, &near[i], i, size, number);
    }
    return number != CCO_NO_STENCIL;
}

/* The lists of a node's ranks, one after the other. */
static void all_neighbors_collect(const cco_neighbors *near, const cco_node_map *map, int node,
                                  bool given, cco_neighbor_lists *all)
{
    int count = 0;
    for (int place = 0; place < cco_node_ranks(map, node); place++) {
        const cco_neighbors *mate = &near[cco_node_rank(map, node, place)];
        const int degree = given ? mate->degrees.out : mate->degrees.in;
        all->degrees[place] = degree;
        for (int i = 0; i < degree; i++) /* none: the list is NULL */
            all->peers[count++] = (given ? mate->out : mate->in)[i];
    }
}

/* For one node; each of its ranks frees its own. */
static bool give_node(cco_neighbors *near, const cco_node_map *map, int node,
                      cco_neighbor_lists *in, cco_neighbor_lists *out)
{
    bool fine = true;
    all_neighbors_collect(near, map, node, false, in);
    all_neighbors_collect(near, map, node, true, out);
    for (int place = 0; place < cco_node_ranks(map, node) && fine; place++) {
        cco_neighbors *mate = &near[cco_node_rank(map, node, place)];
        mate->mates = cco_neighbor_mates_new(map, node, mate, in, out);
        fine = mate->mates != NULL;
    }
    return fine;
}

static bool all_neighbors_decide(cco_neighbors *near, const cco_node_map *map)
{
    cco_neighbor_sends all = {0, 0}, one;
    for (int i = 0; i < map->size; i++) {
        if (!cco_neighbor_sends_of(near[i].mates, map, i, &one))
            return false;
        all.ranks += one.ranks;
        all.nodes += one.nodes;
    }
    for (int i = 0; i < map->size; i++)
        near[i].mates->spare = cco_neighbor_spare(&all);
    return true;
}

static bool all_neighbors_make_room(cco_neighbor_lists *all, int ranks, size_t edges)
{
    all->degrees = malloc((size_t)ranks * sizeof *all->degrees);
    all->peers = malloc((edges + 1) * sizeof *all->peers);
    return all->degrees != NULL && all->peers != NULL;
}

bool cco_all_neighbors_give_mates(cco_neighbors *near, const cco_node_map *map)
{
    cco_neighbor_lists in = {NULL, NULL}, out = {NULL, NULL};
    size_t arrive = 0, leave = 0;
    for (int i = 0; i < map->size; i++) {
        arrive += (size_t)near[i].degrees.in;
        leave += (size_t)near[i].degrees.out;
    }
    bool fine = all_neighbors_make_room(&in, map->most, arrive) &&
                all_neighbors_make_room(&out, map->most, leave);
    for (int node = 0; node < map->count && fine; node++)
        fine = give_node(near, map, node, &in, &out);
    free(in.degrees);
    free(in.peers);
    free(out.degrees);
    free(out.peers);
    return fine && all_neighbors_decide(near, map);
}
