/* SPDX-License-Identifier: BSD-3-Clause */
/* call.h - one collective call on one rank: every collective's arguments in one struct. */
#ifndef CCO_CALL_H
#define CCO_CALL_H

#include "mpi/mpi_compat.h"
#include <stdbool.h>
#include <stdint.h>

#include "call/collectives.h"

/* Whose call it is, and by which name it came: that says whose definition of MPI_x a call of the
 * MPI goes to (native/natives.h). */
typedef enum cco_caller {
    CCO_CALLER_CRESTA,   /* the program's, CRESTA_x, or the MPI's Fortran names */
    CCO_CALLER_MPI,      /* the program's, MPI_x (the preload library) */
    CCO_CALLER_INTERNAL, /* what crestacoll calls for itself */
    CCO_BYS
} cco_caller;

/* Only the members that the collective has are set.  Where it has a single buffer, count or type,
 * the send and the recv member both hold it.  Arrays of counts and displacements are int[], or
 * MPI_Count[] and MPI_Aint[] if `large`. */
typedef struct cco_call {
    cco_coll coll;
    bool large; /* a `_c` call */
    uint8_t by; /* cco_caller */
    int root;
    MPI_Op op;
    MPI_Comm comm;
    const void *sendbuf;
    void *recvbuf;
    MPI_Count sendcount, recvcount;
    MPI_Datatype sendtype, recvtype;
    const void *sendcounts, *senddispls, *recvcounts, *recvdispls;
    const MPI_Datatype *sendtypes, *recvtypes;
} cco_call;

/* What a call without arrays leaves out, for code that names every member. */
#define CCO_NO_ARRAYS                                                                              \
    .sendcounts = NULL, .senddispls = NULL, .recvcounts = NULL, .recvdispls = NULL,                \
    .sendtypes = NULL, .recvtypes = NULL

/* Element `i` of an array of counts of this call. */
static inline MPI_Count cco_count_at(const cco_call *c, const void *counts, int i)
{
    return c->large ? ((const MPI_Count *)counts)[i] : ((const int *)counts)[i];
}

/* Displacements are MPI_Aint in `_c` calls, and in MPI_Neighbor_alltoallw. */
static inline bool cco_displs_are_wide(const cco_call *c)
{
    return c->large || c->coll == CCO_NEIGHBOR_ALLTOALLW;
}

/* Element `i` of an array of displacements. */
static inline MPI_Aint cco_displ_at(const cco_call *c, const void *displs, int i)
{
    return cco_displs_are_wide(c) ? ((const MPI_Aint *)displs)[i] : ((const int *)displs)[i];
}

/* The size of a datatype in bytes, 0 for what is none. */
MPI_Count cco_type_size(MPI_Datatype type);

/* Bytes of a call, as docs/design.md defines them; `rank` and `size` are the caller's in the
 * communicator, whose topology is asked where blocks are neighbors'.  Equal on all ranks for
 * CCO_SIZED collectives.  0 where a datatype is invalid: the MPI will say so when it gets the call.
 */
MPI_Count cco_bytes(const cco_call *c, int rank, int size);

#endif
