/* SPDX-License-Identifier: BSD-3-Clause */
/* near_mates.h - what ranks of one node know of each other's neighbours: who receives from ranks of
 * other nodes.  A rank knows its own list of sources; who else on its node has one of these, it has
 * to be told (tune/topology.h). */
#ifndef CCO_NEAR_MATES_H
#define CCO_NEAR_MATES_H

#include "core/neighbors.h"
#include "sched/node_map.h"

/* A rank of another node, and the place of one of this node that receives from it. */
typedef struct cco_arrival {
    int source, place;
} cco_arrival;

/* In the order of sources, then of places, each pair once. */
typedef struct cco_near_mates {
    bool spare; /* it pays, on all ranks alike, that each block goes into a node once */
    int count;
    cco_arrival list[];
} cco_near_mates;

/* From the lists of sources of all ranks of a node, in the order of their places, one after the
 * other; degrees[i] is the length of that of place i.  NULL when memory runs out; free() it. */
cco_near_mates *cco_near_mates_new(const cco_node_map *map, int node, const int *degrees,
                                   const int *sources);

/* Messages of a rank to other nodes: one to each of its destinations, and one to each node. */
typedef struct cco_near_sends {
    long ranks, nodes;
} cco_near_sends;
bool cco_near_sends_of(const cco_neighbors *near, const cco_node_map *map, int node,
                       cco_near_sends *sends); /* false when memory runs out */

/* Whether one to each node pays, by what all ranks send together. */
bool cco_near_spare(const cco_near_sends *all);

/* Gives all ranks theirs, where the neighbours of all are known.  False when memory runs out. */
bool cco_near_mates_give_all(cco_neighbors *near, const cco_node_map *map);

#endif
