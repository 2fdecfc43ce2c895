/* SPDX-License-Identifier: BSD-3-Clause */
/* begin.h - begins an operation of ours (progress/operation.h) on a path (progress/path.h). */
#ifndef CCO_BEGIN_H
#define CCO_BEGIN_H

#include "comm/comm.h"
#include "progress/copies.h"
#include "progress/operation.h"

/* Begins a call on a path, which is not CCO_PATH_NONE.  The call's arrays must stay until the
 * request ends: those in `copies` do, which the operation has from now on, also if it does not
 * begin.  Types and communicator may be freed before.  Does not wait, and communicates on the path
 * only.  Returns MPI_SUCCESS, MPI_ERR_UNSUPPORTED_OPERATION where CRESTA_FALLBACK=error forbids the
 * algorithm that can do it, or another MPI error class: `ending` does not run then. */
int cco_operation_begin(cco_comm *state, const cco_way *way, const cco_call *call, cco_path path,
                        cco_copies *copies, cco_ending ending, MPI_Request *request);

#endif
