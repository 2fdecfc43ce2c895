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

#include "comm/comm.h"
#include "validate/request.h"

/* In MPI_Finalize, collective over MPI_COMM_WORLD, which another program may have spawned: says
 * what was checked. */
void cco_validate_finish(bool spawned);

#endif
