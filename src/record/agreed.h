/* SPDX-License-Identifier: BSD-3-Clause */
/* agreed.h - what the ranks of a recording agree on before it becomes a plan: that they recorded
 * the same calls, which of these are merged, and which depend on each other. */
#ifndef CCO_AGREED_H
#define CCO_AGREED_H

#include "record/recorder.h"

/* MPI_SUCCESS if all ranks recorded the same calls, which succeeded; otherwise an error on all of
 * them, and one has said what is wrong.  Collective. */
int cco_agreed_calls(cco_recorder *recorder);

/* What runs over a path on all ranks, or is made again as it is on all: sets `path` and `why` of
 * the calls, and `before[i]` to the last call before call `i` that it depends on, on any rank; -1:
 * on none.  Collective.  MPI_SUCCESS or an MPI error class. */
int cco_agreed_parts(cco_recorder *recorder, int *before);

/* MPI_SUCCESS if that is so on all ranks, otherwise an error on all; collective.  If a process has
 * failed, at once what the state says, as in the others. */
int cco_agreed(cco_comm *state, int rc);

#endif
