/* SPDX-License-Identifier: BSD-3-Clause */
/* graphs.h - the neighbours of all ranks of a communicator, and what the MPI standard says of their
 * edges: which block of a sender arrives in which block of a receiver (MPI 4.1, section 8.6).
 * Calls no MPI. */
#ifndef CHECK_GRAPHS_H
#define CHECK_GRAPHS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    GRAPH_NOBODY = -1, /* what MPI_PROC_NULL is here */
    GRAPH_DIMS = 4,    /* of a grid, at most */
};

enum graph_kind { GRAPH_CART, GRAPH_LISTED, GRAPH_DIRECTED, GRAPH_KINDS };

/* The edges of one rank in the order of its blocks. */
struct graph_ends {
    int count;
    int *peer; /* GRAPH_NOBODY: the block belongs to none */
    int *slot; /* of what arrives: the block of the sender that this is, by the standard */
};

struct graph {
    enum graph_kind kind; /* MPI_CART, MPI_GRAPH or MPI_DIST_GRAPH */
    int size;
    int ndims, dims[GRAPH_DIMS], periods[GRAPH_DIMS];
    struct graph_ends *in, *out; /* of each rank */
};

/* A grid, its last dimension fastest; dims[] and periods[] are set by the caller.  All these abort
 * when memory runs out. */
void graph_of_grid(struct graph *g, int ndims, const int *dims, const int *periods);

/* Empty lists, to which the caller adds, and then says that they are complete: what goes from one
 * rank to another arrives in the order of both lists. */
void graph_begin(struct graph *g, enum graph_kind kind, int size);
void graph_add(struct graph_ends *ends, int peer);
void graph_match(struct graph *g);

/* One at random: a grid of any shape, with dimensions of 1 and 2; a graph with edges that occur
 * several times, loops, ranks without edges, and parts that nothing connects; or one of all ranks
 * around each in a grid.  Equal for one
 * seed.  With `nobody` a directed graph has edges that end nowhere. */
void graph_by_chance(struct graph *g, int size, uint64_t seed, bool nobody);

void graph_free(struct graph *g);

#endif
