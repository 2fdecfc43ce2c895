/* SPDX-License-Identifier: BSD-3-Clause */
/* calls.h - the MPI's own collectives, called with the arguments in a cco_call (calls.c is
 * generated). */
#ifndef CCO_CALLS_H
#define CCO_CALLS_H

#include "core/call.h"

int cco_native_blocking(const cco_call *c);
int cco_native_nonblocking(const cco_call *c, MPI_Request *request);

/* MPI_ERR_UNSUPPORTED_OPERATION where the MPI has no persistent collectives. */
int cco_native_persistent(const cco_call *c, MPI_Info info, MPI_Request *request);

#endif
