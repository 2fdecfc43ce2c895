/* SPDX-License-Identifier: BSD-3-Clause */
/* neighbors.h - the neighbors of a rank in the topology of its communicator (MPI 4.1, section
 * 8.6): the blocks of neighborhood collectives in order, and how they match.
 *
 * What goes from one rank to another arrives in the order of two lists: the sender's blocks as they
 * come, and the receiver's in their turn.  In a graph that is the order of the blocks, too: the
 * k-th edge to a process is the k-th edge from it there.  In a grid the receiver's two blocks of
 * each dimension change places: what is sent downwards arrives from above (example 8.10). */
#ifndef CCO_NEIGHBORS_H
#define CCO_NEIGHBORS_H

#include <stdbool.h>

#include "call/degrees.h"

enum { CCO_NO_PEER = -1 }; /* of a block that nobody sends or gets: MPI_PROC_NULL */

typedef struct cco_neighbors {
    cco_degrees degrees;
    bool grid;                   /* MPI_CART */
    const int *in, *out;         /* the rank of each block, or CCO_NO_PEER */
    struct cco_stencil *stencil; /* that these lists are, on all ranks (comm/stencil.h); or NULL */
    struct cco_neighbor_mates
        *mates; /* who on this node receives what (sched/neighbor_mates.h); or NULL */
    int users;  /* who need it still */
} cco_neighbors;

/* The block of the receiver whose turn is the k-th. */
static inline int cco_in_turn(const cco_neighbors *near, int k)
{
    return near->grid ? k ^ 1 : k;
}

/* Asks the MPI for this rank's neighbors; without communication.  NULL where the communicator has
 * no topology; stops the job when memory runs out. */
cco_neighbors *cco_neighbors_of(MPI_Comm comm);

/* One user more, who may outlive the communicator, or less: the last one frees it.  NULL: none. */
const cco_neighbors *cco_neighbors_keep(const cco_neighbors *near);
void cco_neighbors_drop(const cco_neighbors *near);

/* True if anybody sends to this rank. */
static inline bool cco_neighbors_any_source(const cco_neighbors *near)
{
    int i = 0;
    while (i < near->degrees.in && near->in[i] == CCO_NO_PEER)
        i++;
    return i < near->degrees.in;
}

/* True if this rank has several edges to one process, or from one; of itself, too. */
bool cco_neighbors_repeat(const cco_neighbors *near);

/* True if a graph of MPI_Graph_create, where an edge is meant both ways, has one of this rank that
 * the other end lacks. */
bool cco_neighbors_one_sided(MPI_Comm comm, const cco_neighbors *near, int rank);

#endif
