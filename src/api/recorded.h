/* SPDX-License-Identifier: BSD-3-Clause */
/* recorded.h - what a profile records of blocking calls, and of those that only start one. */
#ifndef CCO_API_RECORDED_H
#define CCO_API_RECORDED_H

#include "comm/comm.h"

/* Runs a blocking call by a choice, and records it.  A repeat that its model leaves is recorded
 * too. */
int cco_run_recorded(cco_comm *state, cco_choice *choice, const cco_call *call, MPI_Count bytes);

/* A call that went to the MPI as it is, and lasted so long. */
void cco_profile_count_native(cco_comm *state, cco_mode mode, cco_coll coll, MPI_Count bytes,
                              uint64_t start, uint64_t end);

#endif
