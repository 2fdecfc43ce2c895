/* SPDX-License-Identifier: BSD-3-Clause */
/* watched_wait.h - waits for a collective of the MPI that end when it cannot (base/watch.h). */
#ifndef CCO_WATCHED_WAIT_H
#define CCO_WATCHED_WAIT_H

#include "comm/comm.h"

/* Completes `*request`, pausing between looks.  Gives up, with the request still active and
 * `state->failure.error` as the result, if the program revokes its communicator, which the
 * request's own may not know, or a process of it has failed and nothing has come for long. */
int cco_wait_watched(cco_comm *state, MPI_Request *request);

/* Calls the error handler of a call that began on cco_staging_comm, unless the MPI has. */
int cco_watched_end(cco_comm *state, cco_coll coll, int rc);

#endif
