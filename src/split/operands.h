/* SPDX-License-Identifier: BSD-3-Clause */
/* operands.h - non-blocking reductions whose bits are to be reproducible, where no path of ours
 * runs them: the MPI's non-blocking call brings all operands, and the end of the request combines
 * them. */
#ifndef CCO_OPERANDS_H
#define CCO_OPERANDS_H

#include "split/request_data.h"

/* True if a call is one of those: CRESTA_REPRODUCIBLE, and a sum or product that rounds.  Local,
 * and the same on all ranks. */
bool cco_operands_wanted(const cco_call *call);

/* Starts it, with copies that are kept to the end, or NULL.  Returns MPI_SUCCESS, or an MPI error
 * class after the communicator's error handler; the copies are gone then. */
int cco_operands_start(const cco_call *call, cco_copies *copies, MPI_Request *request);

/* False if such a call must not run, on all ranks; rank 0 has said why: its buffers may lie in a
 * GPU's memory; or it is persistent, which only the MPI can run, and CRESTA_FALLBACK=error. */
bool cco_operands_allowed(const cco_call *call, bool persistent);

#endif
