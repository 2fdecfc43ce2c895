/* SPDX-License-Identifier: BSD-3-Clause */
/* blocking_defects.h - blocking collectives that the MPI below gets wrong, or does not return from,
 * in programs that are right (docs/mpi-defects.md): there its own call is no reference. */
#ifndef CCO_BLOCKING_DEFECTS_H
#define CCO_BLOCKING_DEFECTS_H

#include <stdbool.h>

#include "comm/comm.h"

/* True if the arguments of this rank are such that some MPI fails; the ranks have to agree. */
bool cco_blocking_call_is_odd(const cco_comm *state, const cco_call *call);

/* What this MPI does wrong in a call; NULL: nothing is known.  `odd`: some rank's arguments are.
 * Every rank gets the same answer. */
const char *cco_blocking_defect(const cco_comm *state, const cco_call *call, bool odd);

#endif
