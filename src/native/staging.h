/* SPDX-License-Identifier: BSD-3-Clause */
/* staging.h - persistent collectives that are kept on a communicator, with the buffers they are
 * bound to. */
#ifndef CCO_STAGING_H
#define CCO_STAGING_H

#include "call/call.h"
#include "comm/comm.h"

/* What all ranks know about a call.  Data movement is in bytes; a reduction keeps its predefined
 * type and operation. */
typedef struct cco_staged_key {
    cco_coll coll;
    int root;
    MPI_Count bytes; /* as cco_bytes says: of the block of one rank, or of the whole vector */
    MPI_Datatype type;
    MPI_Op op;
} cco_staged_key;

typedef struct cco_staged {
    cco_staged_key key;
    MPI_Request request;
    char *send, *recv;
    uint64_t used; /* when: the least recently used goes first */
} cco_staged;

/* Where a collective of ours may begin on the ranks of a communicator: the copy on which requests
 * are kept, so that it does not meet what the program began.  The program's own where there is no
 * copy, and for neighbors, since a copy has no topology.  Collective, the first time. */
MPI_Comm cco_staging_comm(cco_comm *state, cco_coll coll);

/* Makes that copy in the set-up of a communicator (comm/model.h). */
void cco_staging_set_up(cco_comm *state, const cco_way *way);

/* The key of a call; false if it has none.  The same answer on all ranks. */
bool cco_staged_key_of(const cco_comm *state, const cco_call *call, cco_staged_key *key);

/* Finds the kept collective for `key`, or makes it (the same on all ranks); NULL on all ranks if
 * the communicator keeps none, because too many others do.  Returns MPI_SUCCESS or
 * what the MPI said.  Stops the job when memory runs out: to go on without it on one rank only
 * would hang the others. */
int cco_staged_find(cco_comm *state, const cco_staged_key *key, cco_staged **kept);

/* Caller's data to the staging buffers, and back.  Return MPI_SUCCESS or what the MPI said. */
int cco_staged_fill(const cco_staged *kept, const cco_call *call, const cco_comm *state);
int cco_staged_drain(const cco_staged *kept, const cco_call *call, const cco_comm *state);

#endif
