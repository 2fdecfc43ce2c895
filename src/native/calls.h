/* SPDX-License-Identifier: BSD-3-Clause */
/* calls.h - the MPI's own collectives, called with the arguments in a cco_call (calls.c is
 * generated).  `to` is cco_natives_for(call) where the MPI runs a call of the program as it came,
 * so that a tool behind us sees it, and &cco_native[CCO_CALLER_INTERNAL] otherwise. */
#ifndef CCO_CALLS_H
#define CCO_CALLS_H

#include "native/natives.h"

int cco_native_blocking(const cco_natives *to, const cco_call *c);
int cco_native_nonblocking(const cco_natives *to, const cco_call *c, MPI_Request *request);

/* MPI_ERR_UNSUPPORTED_OPERATION where the MPI has no persistent collectives. */
int cco_native_persistent(const cco_natives *to, const cco_call *c, MPI_Info info,
                          MPI_Request *request);

#endif
