/* SPDX-License-Identifier: BSD-3-Clause */
/* request.h - checks of begun calls: split-phase ones, and the non-blocking ones of a preloaded
 * program, where they run as operations of ours.
 *
 * Nothing collective may wait in a begin, a wait or a test of one rank.  So a check has copies of
 * what the call reads (validate/own.h), takes its result when the operation is over, and goes on in
 * stages, each of which is a non-blocking call of the MPI's own: ranks agree whether it goes on,
 * then the reference runs, then they agree whether the results differ.  The checks of a
 * communicator are over one after the other, in the order of their begins, on a communicator of
 * their own: so all ranks start the same calls there in the same order, whenever each of them comes
 * to it.  They move on while operations are polled.  Only where all ranks are, in MPI_Comm_free and
 * MPI_Finalize, somebody waits for them. */
#ifndef CCO_REQUEST_H
#define CCO_REQUEST_H

#include "validate/check.h"

struct cco_validate_request;

/* Makes ready what they need; collective. */
void cco_validate_request_prepare(cco_validated *of);

/* False for what no check of a begun call can do, on all ranks alike. */
bool cco_validate_request_can_check(const cco_call *call);

/* A check of a call that is about to begin; local, and alike on all ranks.  NULL, on all of them,
 * if the MPI has no communicator for it. */
struct cco_validate_request *cco_validate_request_check(cco_validated *of, const cco_choice *choice,
                                                        const cco_call *call, MPI_Count bytes);

/* The operation is over, and the program does not know it yet; or it could not begin.  Once for
 * each check, by any thread, without the MPI. */
void cco_validate_request_ended(void *begun, int rc);

/* Moves on all checks, without waiting.  True if one moved. */
bool cco_validate_request_progress(bool calls_mpi);

/* Those of a communicator to their ends; collective.  Operations that are not over are not
 * checked. */
void cco_validate_request_finish(cco_validated *of);

/* Those of all, in MPI_Finalize. */
void cco_validate_request_finish_all(void);

#endif
