/* SPDX-License-Identifier: BSD-3-Clause */
/* profile_waiting.h - rows of a profile learn how long this rank waited for the last one. */
#ifndef CCO_PROFILE_WAITING_H
#define CCO_PROFILE_WAITING_H

#include "mpi/mpi_compat.h"
#include "profile/profile.h"

/* Collective over a communicator of ours like the world: fills in `sampled` of the rows of this
 * rank, which begin with copies of those kept, from calls since the moment `from` (cco_clock_here).
 * With `placed` the timeline learns it, too. */
void cco_profile_evaluate(MPI_Comm comm, cco_rows *rows, int64_t from, bool placed);

#endif
