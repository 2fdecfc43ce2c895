/* SPDX-License-Identifier: BSD-3-Clause */
/* collectives.h - the collectives: enum, names, properties, and the shapes of their buffers.  The
 * list is generated from api/collectives.def. */
#ifndef CCO_COLLECTIVES_H
#define CCO_COLLECTIVES_H

#include <stdbool.h>
#include <stdint.h>

/* Properties; what the first three and the last two mean is said in api/collectives.def. Others
 * follow from arguments and shapes. In place, the one block of a rank lies among the others for
 * `gathers` (it is the send buffer that is not there) and `scatters` (the receive buffer). */
enum {
    CCO_SIZED = 1,
    CCO_ROOTED = 2,
    CCO_REDUCTION = 4,
    CCO_COUNTS = 8,     /* an array of counts: blocks differ in size */
    CCO_GATHERS = 16,   /* a rank gives a block and gets one from each */
    CCO_SCATTERS = 32,  /* a rank gives a block to each and gets one */
    CCO_NEIGHBORS = 64, /* peers are neighbors in the communicator's topology */
    CCO_OURS = 128      /* no MPI has it */
};

/* The shape of a buffer: how many blocks, and on which ranks if not on all. */
enum { CCO_NONE, CCO_ONE, CCO_EACH, CCO_AT_ROOT = 4, CCO_LATER = 8, CCO_NEAR = 16 };

typedef enum cco_coll {
#define CCO_COLLECTIVE(suffix, name, mpi_name, properties, in, out) CCO_##suffix,
#include "call/collectives.inc"
#undef CCO_COLLECTIVE
    CCO_COLLECTIVES
} cco_coll;

typedef struct cco_coll_info {
    const char *name;     /* "allreduce" */
    const char *mpi_name; /* "Allreduce" */
    int properties;
    int in, out; /* shapes of what a rank gives, and of what it gets */
} cco_coll_info;

extern const cco_coll_info cco_coll_infos[CCO_COLLECTIVES];

/* True for neighborhood collectives. */
static inline bool cco_is_neighbor(cco_coll coll)
{
    return cco_coll_infos[coll].properties & CCO_NEIGHBORS;
}

/* True for what no MPI has. */
static inline bool cco_is_ours(cco_coll coll)
{
    return cco_coll_infos[coll].properties & CCO_OURS;
}

/* True if MPI_IN_PLACE may be the send buffer: none of neighbors, but for one vector that is given
 * to all of them and reduced. */
static inline bool cco_takes_in_place(cco_coll coll)
{
    return !cco_is_neighbor(coll) ||
           (cco_coll_infos[coll].properties & CCO_REDUCTION && cco_coll_infos[coll].in == CCO_ONE);
}

/* True if a rank receives a block from each of several: these may be asked for one by one
 * (CRESTA_Coll_some). */
static inline bool cco_coll_streams(cco_coll coll)
{
    return cco_coll_infos[coll].out & (CCO_EACH | CCO_NEAR);
}

/* The neighborhood collectives, or all others, as bits. */
static inline uint32_t cco_colls(bool near)
{
    uint32_t bits = 0;
    for (int i = 0; i < CCO_COLLECTIVES; i++)
        bits |= (uint32_t)(cco_is_neighbor((cco_coll)i) == near) << i;
    return bits;
}

/* The blocks of a buffer on one rank, which may be the root; 0 if it is not significant there.  Of
 * CCO_NEAR only the topology knows them (comm/neighbors.h): 0. */
static inline int cco_blocks(int shape, bool root, int size)
{
    if (shape & CCO_AT_ROOT && !root)
        return 0;
    return shape & CCO_EACH ? size : shape & CCO_ONE;
}

#endif
