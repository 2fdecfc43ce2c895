/* SPDX-License-Identifier: BSD-3-Clause */
/* validate.h - CRESTA_VALIDATE: calls that are made once more by another implementation,
 * on copies, and compared.
 *
 * A call that is checked (validate/sample.h) first has its receive buffer copied, gaps included,
 * and what it reads there, if it is in place.  Then it runs as always, on the program's buffers.
 * Then the reference (validate/reference.h) runs on the copies, and the results are compared: bit
 * by bit, or by an error bound where the order of a reduction tells (validate/numbers.h).  Before
 * it, after it and at the end the ranks agree whether the check goes on: no rank alone decides
 * that.  Begun calls: validate/request.h. */
#ifndef CCO_VALIDATE_H
#define CCO_VALIDATE_H

#include "core/comm.h"
#include "validate/request.h"

/* A communicator has been set up; collective.  Does nothing unless CRESTA_VALIDATE is set. */
void cco_validate_set_up(cco_comm *state);

/* Before a blocking call with the implementation that is chosen for it, if CRESTA_VALIDATE is set:
 * NULL if it is not checked, else what cco_validate_end takes, with what the call returned. */
cco_check *cco_validate_begin(cco_comm *state, const cco_choice *choice, const cco_call *call,
                              MPI_Count bytes);
void cco_validate_end(cco_check *check, int rc);

/* Begins may have operations of ours from now on; collective. */
void cco_validate_prepare_begins(cco_comm *state);

/* Before an operation of ours begins, with valid arguments on all ranks: NULL if it is not checked,
 * else what cco_validate_request_ended takes. */
struct cco_validate_request *cco_validate_begun(cco_comm *state, const cco_choice *choice,
                                                const cco_call *call);

/* In MPI_Finalize, collective over MPI_COMM_WORLD, which another program may have spawned: says
 * what was checked. */
void cco_validate_finish(bool spawned);

#endif
