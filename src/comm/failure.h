/* SPDX-License-Identifier: BSD-3-Clause */
/* failure.h - a process of a communicator has failed, or the program has revoked the communicator:
 * from then on nothing of ours runs there.
 *
 * Who finds it out leaves all that the ranks share (segments, streams, channel), so that whoever
 * waits for this rank finds it out as well.  The other implementations of the ladder are not tried:
 * they would wait for the same ranks. */
#ifndef CCO_FAILURE_H
#define CCO_FAILURE_H

#include "comm/comm.h"

/* What is to be left then; `leave(what, error)` may come in the middle of a call that uses it. */
void cco_comm_on_failure(cco_comm *state, void (*leave)(void *what, int error), void *what);

/* A process has failed (`error`: a class; `lost`: its rank, -1 if it is not known); calls of ours
 * return the error from now on.  Once: what comes later changes nothing. */
void cco_comm_fail(cco_comm *state, int error, int lost);

/* The watch over its ranks in waits for messages. */
cco_watch *cco_comm_watch(cco_comm *state);

/* Whether something of the kind is known here, so that what was refused was not refused on all
 * ranks; then it is as after cco_comm_fail. */
bool cco_comm_has_failed(cco_comm *state);

/* Why there is no channel: the error of the failure, or MPI_ERR_COMM where the MPI refuses. */
int cco_comm_no_channel(cco_comm *state);

/* Whether it is for this rank to say so: true for one on each host. */
bool cco_comm_tells_failure(const cco_comm *state);

/* The end of a call of ours that failed: says so where the job is about to end, calls the
 * communicator's error handler, and returns the class of the error. */
int cco_comm_raise(cco_comm *state, cco_coll coll, int error);

/* cco_comm_raise for what is no collective: `where` is its name. */
int cco_comm_raise_in(cco_comm *state, const char *where, int error);

#endif
