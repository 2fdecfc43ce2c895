/* SPDX-License-Identifier: BSD-3-Clause */
/* near_mates.c - see near_mates.h. */
#include "sched/near_mates.h"

#include <stdlib.h>
#include <string.h>

static int by_source(const void *a, const void *b)
{
    const cco_arrival *x = a, *y = b;
    const int source = (x->source > y->source) - (x->source < y->source);
    return source != 0 ? source : (x->place > y->place) - (x->place < y->place);
}

static bool equal(const cco_arrival *a, const cco_arrival *b)
{
    return a->source == b->source && a->place == b->place;
}

static int sum(const int *degrees, int n)
{
    int all = 0;
    for (int i = 0; i < n; i++)
        all += degrees[i];
    return all;
}

cco_near_mates *cco_near_mates_new(const cco_node_map *map, int node, const int *degrees,
                                   const int *sources)
{
    const int places = cco_node_ranks(map, node);
    const size_t most = (size_t)sum(degrees, places);
    cco_near_mates *mates = malloc(sizeof *mates + most * sizeof *mates->list);
    int found = 0;
    if (mates == NULL)
        return NULL;
    mates->spare = false;
    for (int place = 0; place < places; place++)
        for (int i = 0; i < degrees[place]; i++, sources++)
            if (*sources != CCO_NO_PEER && map->node[*sources] != node)
                mates->list[found++] = (cco_arrival){*sources, place};
    qsort(mates->list, (size_t)found, sizeof *mates->list, by_source);
    mates->count = 0;
    for (int i = 0; i < found; i++)
        if (i == 0 || !equal(&mates->list[i], &mates->list[i - 1]))
            mates->list[mates->count++] = mates->list[i];
    return mates;
}

bool cco_near_sends_of(const cco_neighbors *near, const cco_node_map *map, int node,
                       cco_near_sends *sends)
{
    cco_arrival *list = malloc(((size_t)near->degrees.out + 1) * sizeof *list);
    int found = 0;
    *sends = (cco_near_sends){0, 0};
    for (int i = 0; list != NULL && i < near->degrees.out; i++)
        if (near->out[i] != CCO_NO_PEER && map->node[near->out[i]] != node)
            list[found++] = (cco_arrival){map->node[near->out[i]], map->place[near->out[i]]};
    if (found > 0)
        qsort(list, (size_t)found, sizeof *list, by_source);
    for (int i = 0; i < found; i++) {
        sends->ranks += i == 0 || !equal(&list[i], &list[i - 1]);
        sends->nodes += i == 0 || list[i].source != list[i - 1].source;
    }
    free(list);
    return list != NULL;
}

/* A block that is passed on comes a message later: what leaders save has to make up for that.
 * Simulated on two machines, with a quarter of the messages they take 0.5 to 0.8 of the time from
 * 512 bytes on, and 1.1 to 1.3 of it with 8 bytes (docs/results/neighbours.md). */
bool cco_near_spare(const cco_near_sends *all)
{
    return all->ranks > 0 && all->ranks >= 2 * all->nodes;
}

/* For one node; each of its ranks frees its own. */
static bool give_node(cco_neighbors *near, const cco_node_map *map, int node, int *degrees,
                      int *sources)
{
    int count = 0;
    for (int place = 0; place < cco_node_ranks(map, node); place++) {
        const cco_neighbors *mate = &near[cco_node_rank(map, node, place)];
        degrees[place] = mate->degrees.in;
        for (int i = 0; i < mate->degrees.in; i++) /* none: `in` is NULL */
            sources[count++] = mate->in[i];
    }
    for (int place = 0; place < cco_node_ranks(map, node); place++) {
        cco_neighbors *mate = &near[cco_node_rank(map, node, place)];
        mate->mates = cco_near_mates_new(map, node, degrees, sources);
        if (mate->mates == NULL)
            return false;
    }
    return true;
}

static bool decide(cco_neighbors *near, const cco_node_map *map)
{
    cco_near_sends all = {0, 0}, one;
    for (int i = 0; i < map->size; i++) {
        if (!cco_near_sends_of(&near[i], map, map->node[i], &one))
            return false;
        all.ranks += one.ranks;
        all.nodes += one.nodes;
    }
    for (int i = 0; i < map->size; i++)
        near[i].mates->spare = cco_near_spare(&all);
    return true;
}

bool cco_near_mates_give_all(cco_neighbors *near, const cco_node_map *map)
{
    size_t edges = 1;
    for (int i = 0; i < map->size; i++)
        edges += (size_t)near[i].degrees.in;
    int *degrees = malloc((size_t)map->size * sizeof *degrees);
    int *sources = malloc(edges * sizeof *sources);
    bool fine = degrees != NULL && sources != NULL;
    for (int node = 0; node < map->count && fine; node++)
        fine = give_node(near, map, node, degrees, sources);
    free(degrees);
    free(sources);
    return fine && decide(near, map);
}
