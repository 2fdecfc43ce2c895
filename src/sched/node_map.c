/* SPDX-License-Identifier: BSD-3-Clause */
/* node_map.c - see node_map.h. */
#include "sched/node_map.h"

#include <stddef.h>
#include <stdlib.h>

/* A rank and its key, to be sorted. */
typedef struct keyed {
    uint64_t key;
    int rank;
} keyed;

static int by_key(const void *a, const void *b)
{
    const keyed *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->rank - y->rank;
}

/* The first rank of each rank's node goes into `leader`. */
static void find_leaders(keyed *sorted, const uint64_t *keys, int size, int *leader)
{
    for (int i = 0; i < size; i++)
        sorted[i] = (keyed){keys[i], i};
    qsort(sorted, (size_t)size, sizeof *sorted, by_key);
    for (int i = 0; i < size; i++) {
        const bool same = i > 0 && sorted[i].key == sorted[i - 1].key;
        leader[sorted[i].rank] = same ? leader[sorted[i - 1].rank] : sorted[i].rank;
    }
}

/* Numbers the nodes, and counts their ranks into `first`, one place farther. */
static int node_map_number(const int *leader, int size, int *node, int *place, int *first)
{
    int count = 0;
    for (int i = 0; i < size; i++) {
        node[i] = leader[i] == i ? count++ : node[leader[i]];
        if (leader[i] == i)
            first[count] = 0;
        place[i] = first[node[i] + 1]++;
    }
    return count;
}

static void node_map_measure(cco_node_map *map)
{
    map->least = map->size;
    map->contiguous = true;
    for (int k = 0; k < map->count; k++) {
        const int n = cco_node_ranks(map, k);
        map->least = n < map->least ? n : map->least;
        map->most = n > map->most ? n : map->most;
        if (cco_node_rank(map, k, n - 1) - cco_node_rank(map, k, 0) != n - 1)
            map->contiguous = false;
    }
}

cco_node_map *cco_node_map_new(const uint64_t *keys, int size)
{
    const size_t n = (size_t)size;
    cco_node_map *map = malloc(sizeof *map + (4 * n + 1) * sizeof(int));
    keyed *sorted = malloc(n * sizeof *sorted);
    if (map != NULL && sorted != NULL) {
        int *node = (int *)(map + 1), *place = node + n, *first = place + n;
        int *ranks = first + n + 1;
        find_leaders(sorted, keys, size, ranks); /* for the time being */
        first[0] = 0;
        *map = (cco_node_map){
            .users = 1, .size = size, .node = node, .place = place, .first = first};
        map->piece = CCO_PIECE;
        map->count = node_map_number(ranks, size, node, place, first);
        for (int k = 0; k < map->count; k++)
            first[k + 1] += first[k];
        for (int i = 0; i < size; i++)
            ranks[first[node[i]] + place[i]] = i;
        map->ranks = ranks;
        node_map_measure(map);
    } else {
        free(map);
        map = NULL;
    }
    free(sorted);
    return map;
}

static int *users_of(const cco_node_map *map)
{
    return (int *)(uintptr_t)&map->users;
}

const cco_node_map *cco_node_map_keep(const cco_node_map *map)
{
    if (map != NULL)
        __atomic_add_fetch(users_of(map), 1, __ATOMIC_RELAXED);
    return map;
}

void cco_node_map_drop(const cco_node_map *map)
{
    if (map != NULL && __atomic_sub_fetch(users_of(map), 1, __ATOMIC_ACQ_REL) == 0)
        free((void *)(uintptr_t)map);
}
