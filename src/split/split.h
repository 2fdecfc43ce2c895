/* SPDX-License-Identifier: BSD-3-Clause */
/* split.h - split-phase collectives: what every generated CRESTA_x_begin does. */
#ifndef CCO_SPLIT_H
#define CCO_SPLIT_H

#include <limits.h>

#include "process/process.h"
#include "process/progress.h"
#include "comm/comm.h"
#include "config/config.h"
#include "mpi/grequest.h"
#include "cresta_sp_coll.h"

/* True while a call without arrays is nothing but the MPI's own. */
static inline bool cco_begin_is_plain(void)
{
    return cco_phase_now() == CCO_IDLE && !cco_configured.protect && !cco_progress_calls_mpi() &&
           !cco_our_requests_any();
}

/* Begins a call, with copies of what the MPI may read until the end; records it. */
int cco_begin(const cco_call *call, MPI_Request *request);

/* Starts a call with the MPI's own non-blocking or persistent form, and records it.  In a preloaded
 * program whose progress thread may call the MPI, a non-blocking call is an operation of ours if
 * its rule says so: such a program has no begins. */
int cco_start(cco_comm *state, cco_mode mode, const cco_call *call, MPI_Info info,
              MPI_Request *request);

#endif
