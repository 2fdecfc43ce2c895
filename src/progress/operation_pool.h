/* SPDX-License-Identifier: BSD-3-Clause */
/* operation_pool.h - an operation (progress/operation.h); where those of a communicator come from
 * and go to; their requests.
 *
 * An operation that has ended serves the next begin, with the schedules that it has built.  The
 * program may free the communicator first: then the last operation to end frees what they all use.
 */
#ifndef CCO_OPERATION_POOL_H
#define CCO_OPERATION_POOL_H

#include "progress/round_time.h"
#include "progress/stream_sets.h"
#include "plan/scheduled.h"
#include "transport/p2p/p2p.h"

typedef struct cco_operation_pool cco_operation_pool;

typedef struct cco_operation {
    cco_operation_pool *pool;
    cco_scheduled own;
    cco_p2p p2p;
    cco_stream_set *stream_set; /* NULL: it is on messages */
    bool starts;                /* its schedule has not started */
    bool counted;               /* the progress thread looks because of it */
    cco_call call;
    cco_bound bound;
    const cco_algo *algo;
    cco_plan *plan;            /* that runs */
    cco_round_time round_time; /* of that, on messages */
    bool shares;               /* it is not the call's own, but brings counts that it needs */
    cco_binding sharing;       /* of that */
    MPI_Datatype *types;       /* duplicates that the end needs, */
    int held;                  /* so many */
    int rc;                    /* what its request tells */
    size_t kept;               /* bytes, while it is idle */
    MPI_Request request;
    struct cco_operation *next, *behind; /* of a list; of those who wait for a stream set */
} cco_operation;

/* What it takes to move it. */
static inline cco_progress_level cco_operation_level(const cco_operation *o)
{
    return o->stream_set != NULL ? CCO_PROGRESS_MEMORY : CCO_PROGRESS_MPI;
}

/* One look at an operation, of whoever has it; true at the end of its schedule, good or bad.  Calls
 * the MPI only on messages.  (progress/operation.c) */
bool cco_operation_progress(cco_operation *o, bool *moved);

/* After that: brings the data to their place, lets go of what it held.  (progress/operation.c) */
void cco_operation_end(cco_operation *o);

/* Makes the pool of a communicator with what a path needs, or finds it; collective. */
void cco_operation_pool_make(cco_comm *state, cco_path path);

/* True if there is what a path needs. */
bool cco_operation_pool_has(const cco_comm *state, cco_path path);

/* An operation for the next begin on a communicator over a path, which is counted; NULL when memory
 * runs out. */
cco_operation *cco_operation_pool_take(cco_comm *state, cco_path path);

/* It is over. */
void cco_operation_transport_done(cco_operation *o);

/* It has no request, and can be used again. */
void cco_operation_pool_return(cco_operation *o);

/* Makes its request, which gives it back when the program has ended it. */
int cco_operation_request(cco_operation *o, MPI_Request *request);

/* From now on this thread only looks at a request, until another or MPI_REQUEST_NULL: if it is of a
 * operation that failed, its end will say so, and no error handler may be told twice. */
void cco_operation_only_test(MPI_Request request);

#endif
