/* SPDX-License-Identifier: BSD-3-Clause */
/* neighbor_mates.h - what ranks of one node know of each other's neighbors: who receives from ranks
 * of other nodes, and who sends to them.  A rank knows its own lists; those of the others on its
 * node it gets from them (tune/topology.h). */
#ifndef CCO_NEIGHBOR_MATES_H
#define CCO_NEIGHBOR_MATES_H

#include "comm/neighbors.h"
#include "sched/node_map.h"

/* A rank of another node, and the place of one of this node that receives from it, or sends. */
typedef struct cco_neighbor_pair {
    int peer, place;
} cco_neighbor_pair;

/* Pairs are in the order of peers, then of places, each once.  A slot is the number of a peer among
 * those that a rank has on other nodes, in their order; CCO_NO_PEER where the peer of an edge is on
 * this node, or nobody. */
typedef struct cco_neighbor_mates {
    bool spare; /* it pays, on all ranks alike, that each block goes into a node once */
    int most;   /* slots that a rank of this node has, to send or to receive */
    int count, sends;
    const cco_neighbor_pair *list, *to; /* who receives: `count`; who sends: `sends` */
    const int *in_slot, *out_slot;      /* of each edge of this rank */
} cco_neighbor_mates;

/* Numbers that each rank of the node tells its leader (neighbor_counts.h). */
static inline size_t cco_neighbor_row_length(const cco_neighbor_mates *mates)
{
    return 2 * (size_t)mates->most;
}

/* The lists of all ranks of a node, in the order of their places, one after the other; degrees[i]
 * is the length of that of place i. */
typedef struct cco_neighbor_lists {
    int *degrees, *peers;
} cco_neighbor_lists;

/* For the rank at a place of the node, whose neighbors are `near`.  NULL when memory runs out;
 * free() it. */
cco_neighbor_mates *cco_neighbor_mates_new(const cco_node_map *map, int node,
                                           const cco_neighbors *near, const cco_neighbor_lists *in,
                                           const cco_neighbor_lists *out);

/* Messages of a rank to other nodes: one to each of its destinations, and one to each node. */
typedef struct cco_neighbor_sends {
    long ranks, nodes;
} cco_neighbor_sends;
bool cco_neighbor_sends_of(const cco_neighbor_mates *mates, const cco_node_map *map, int rank,
                           cco_neighbor_sends *sends); /* false when memory runs out */

/* Whether one to each node pays, by what all ranks send together. */
bool cco_neighbor_spare(const cco_neighbor_sends *all);

#endif
