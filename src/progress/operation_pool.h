/* SPDX-License-Identifier: BSD-3-Clause */
/* operation_pool.h - the operations of a communicator (progress/operation.h), and their requests.
 *
 * An operation that has ended serves the next begin, with the schedules that it has built.  The
 * program may free the communicator first: then the last operation to end frees the pool. */
#ifndef CCO_OPERATION_POOL_H
#define CCO_OPERATION_POOL_H

#include "progress/operation.h"

typedef struct cco_operation_pool cco_operation_pool;

/* Makes the pool of a communicator, and what a path needs, unless they are there.  Collective. */
void cco_operation_pool_make(cco_comm *state, cco_path path);

/* True if what a path needs is there. */
bool cco_operation_pool_has(const cco_comm *state, cco_path path);

/* Takes an idle operation from the pool, or makes one, for the next begin on a path, and counts it
 * as in flight.  Returns MPI_SUCCESS or an MPI error class. */
int cco_operation_pool_take(cco_comm *state, cco_path path, cco_operation **taken);

/* Counts a begin which fails on this rank before that. */
void cco_operation_pool_skip(cco_comm *state, cco_path path);

/* Its messages are over: it is no longer in flight. */
void cco_operation_transport_done(cco_operation *o);

/* In a long wait, on a thread that may call the MPI: the error with which operations end because
 * the program has revoked their communicator, or a process has failed; else MPI_SUCCESS. */
int cco_operation_pool_error(cco_operation_pool *pool);

/* An operation has ended with an error: the class that its request returns.  Where a process has
 * failed, or ranks made `unlike` calls, this rank takes no further part in operations of the
 * pool. */
int cco_operation_pool_cause(cco_operation_pool *pool, cco_unlike *unlike, int error);

/* Puts an operation that has no request back into the pool. */
void cco_operation_pool_return(cco_operation *o);

/* Makes its request, which returns it to the pool when the program has ended it. */
void cco_operation_request(cco_operation *o, MPI_Request *request);

#endif
