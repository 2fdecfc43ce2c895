/* SPDX-License-Identifier: BSD-3-Clause */
/* below.h - a model hands a call to the model below it, where it cannot run it (comm/fallback.h).
 */
#ifndef CCO_BELOW_H
#define CCO_BELOW_H

#include "comm/comm.h"

/* Runs a call with the model below that of `way` because of what the communicator lacks, `why`;
 * what `auto` chose, with the MPI's own call, and without a word.  With CRESTA_FALLBACK=error
 * others end with MPI_ERR_UNSUPPORTED_OPERATION, through the error handler.  Reported once for each
 * model. All ranks of the communicator come here, or none. */
int cco_run_fallback(const cco_way *way, cco_comm *state, const cco_call *call, const char *why);

/* Whether a reduction may have unlike types on ranks, or gaps.  The operations of the standard have
 * the same type everywhere, the program's own perhaps types with other gaps.  `auto` leaves these
 * to the MPI: its limits were measured on numbers. */
bool cco_is_uneven(const cco_call *call);

/* Runs a call with the MPI's own collectives. */
int cco_run_mpi(cco_comm *state, const cco_call *call);

#endif
