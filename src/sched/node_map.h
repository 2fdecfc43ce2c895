/* SPDX-License-Identifier: BSD-3-Clause */
/* node_map.h - on which node each rank of a communicator is: the same on all its ranks, part of
 * every problem whose algorithm asks (algo.h). */
#ifndef CCO_NODE_MAP_H
#define CCO_NODE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Messages to other nodes go in pieces of so many bytes if they are at most so many pieces.  Open
 * MPI over TCP sends less than 64 KiB at once; for more it asks the receiver, whose answer waits
 * behind what goes the other way.  In long messages that makes no difference.  Elements of 2 to 6
 * numbers stay whole. */
enum { CCO_PIECE = 60 << 10, CCO_PIECES = 5 };

/* Nodes count in the order of their first ranks.  The arrays lie in the same memory. */
typedef struct cco_node_map {
    int users;        /* who keep it */
    int size, count;  /* ranks, nodes */
    int least, most;  /* ranks of a node */
    size_t piece;     /* CCO_PIECE; in tests less */
    bool contiguous;  /* the ranks of every node follow one another */
    const int *node;  /* of each rank */
    const int *place; /* of each rank among those of its node, in their order */
    const int *first; /* `count` + 1: where the ranks of each node begin in */
    const int *ranks; /* all ranks, node after node */
} cco_node_map;

/* Ranks with equal keys are on one node.  Kept by the caller; NULL when memory runs out. */
cco_node_map *cco_node_map_new(const uint64_t *keys, int size);

/* One more keeps it, or one less: the last one frees it.  Any thread; NULL is none. */
const cco_node_map *cco_node_map_keep(const cco_node_map *map);
void cco_node_map_drop(const cco_node_map *map);

static inline int cco_node_ranks(const cco_node_map *map, int node)
{
    return map->first[node + 1] - map->first[node];
}

/* The rank at a place of a node. */
static inline int cco_node_rank(const cco_node_map *map, int node, int place)
{
    return map->ranks[map->first[node] + place];
}

#endif
