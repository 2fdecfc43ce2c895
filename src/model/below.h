/* SPDX-License-Identifier: BSD-3-Clause */
/* below.h - down the ladder in the middle of things: what a communicator turns out to lack. */
#ifndef CCO_BELOW_H
#define CCO_BELOW_H

#include "core/comm.h"

/* Runs a call with the model below; or, with CRESTA_FALLBACK=error, ends it with
 * MPI_ERR_UNSUPPORTED_OPERATION.  Says `why` on rank 0, once for each model: there may be thousands
 * of communicators.  All ranks of the communicator come here, or none. */
int cco_run_below(const cco_model *model, cco_comm *state, const cco_call *call, const char *why);

#endif
