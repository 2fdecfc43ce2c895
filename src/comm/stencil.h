/* SPDX-License-Identifier: BSD-3-Clause */
/* stencil.h - the Moore stencil of a torus or grid in the lists of a graph: each rank has an edge
 * to each rank that is one step away in some of 2 to 4 dimensions, across corners too.
 *
 * The MPI knows lists of ranks only.  A stencil is found by trying: ranks stand in the order of
 * MPI_Cart_create (the last dimension is fastest), and lists may have any order of their own.  What
 * a rank sees are its own edges, so the ranks agree on one that all of them see
 * (tune/topology.c). */
#ifndef CCO_STENCIL_H
#define CCO_STENCIL_H

#include <stdbool.h>
#include <stdint.h>

enum { CCO_STENCIL_DIMS = 4, CCO_STENCIL_OFFSETS = 81 };

/* Offset `o` has a digit for each dimension, that of the first worth most: 0, 1 and 2 for a step
 * down, none, and a step up. */
typedef struct cco_stencil {
    int ndims, offsets;
    int dims[CCO_STENCIL_DIMS];
    bool periodic[CCO_STENCIL_DIMS];
    bool center;                  /* a rank has an edge with itself, of offset zero */
    int at[CCO_STENCIL_DIMS];     /* where this rank is */
    int out[CCO_STENCIL_OFFSETS]; /* the block for the rank at an offset; -1: there is none */
    int in[CCO_STENCIL_OFFSETS];  /* the block from the rank for which this one is there */
} cco_stencil;

struct cco_neighbors;

/* Stencils that the lists of a rank might be have numbers, the same on all ranks.  The first from
 * number `from` on that they are; CCO_NO_STENCIL: none.  It is the largest also in the order of
 * signed numbers, by which MPICH 4.0 compares these in an allreduce. */
#define CCO_NO_STENCIL ((uint64_t)INT64_MAX)
uint64_t cco_stencil_next(const struct cco_neighbors *near, int rank, int size, uint64_t from);

/* The stencil of a number that fits.  Where an edge occurs several times, in dimensions of 1 and 2,
 * both of its ranks give the k-th one in their lists to the k-th of its offsets. */
void cco_stencil_describe(cco_stencil *stencil, const struct cco_neighbors *near, int rank,
                          int size, uint64_t number);

/* The step of an offset in a dimension: -1, 0 or 1. */
int cco_stencil_step(const cco_stencil *stencil, int offset, int dim);

/* The offset whose only step is that one. */
int cco_stencil_along(const cco_stencil *stencil, int dim, int step);

/* The rank at such a step of this one; -1: the grid ends there. */
int cco_stencil_rank(const cco_stencil *stencil, int dim, int step);

/* True if there is a rank at `steps` from this one, in all dimensions. */
bool cco_stencil_has(const cco_stencil *stencil, const int steps[CCO_STENCIL_DIMS]);

#endif
