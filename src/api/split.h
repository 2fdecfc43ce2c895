/* SPDX-License-Identifier: BSD-3-Clause */
/* split.h - split-phase collectives: what every generated CRESTA_x_begin does. */
#ifndef CCO_SPLIT_H
#define CCO_SPLIT_H

#include <limits.h>

#include "api/process.h"
#include "api/progress.h"
#include "core/comm.h"
#include "core/config.h"
#include "core/our_requests.h"
#include "cresta_sp_coll.h"

/* True while a call without arrays is nothing but the MPI's own. */
static inline bool cco_begin_is_plain(void)
{
    return cco_phase_now() == CCO_IDLE && !cco_configured.protect && !cco_progress_calls_mpi() &&
           !cco_our_requests_any();
}

/* The rule that a begin goes by; the state is ready. */
cco_choice *cco_split_choice(cco_comm *state, const cco_call *call);

/* One turn of a wait of the program that tests in a loop: pauses, but for the first time, and moves
 * what is ours.  False if nothing of ours is under way, unless waits are polite (core/polite.h):
 * then the MPI can wait by itself.  (It only looks at its own, and nothing else would move ours
 * before the progress thread gets a core.) */
enum { CCO_PROGRESS_FIRST_TURN = INT_MIN }; /* `*tries` before the first turn */
bool cco_progress_turn(int *tries);

/* The same where no test of the MPI comes between two turns. */
bool cco_progress_turn_alone(int *tries);

/* Looks at requests from number `*at` on, and counts it up; true when all are over.  It ends none,
 * and a wait that begins where it was looks at each but once.  (PMPI_Testall of MPICH 4.0 fails
 * where a persistent collective has ended, and its PMPI_Waitall where a request of ours has not and
 * another is null: docs/mpi-defects.md.) */
bool cco_all_complete(int count, const MPI_Request requests[], int *at);

/* Begins a call, with copies of what the MPI may read until the end; records it. */
int cco_begin(const cco_call *call, MPI_Request *request);

/* Starts a call with the MPI's own non-blocking or persistent form, and records it.  In a preloaded
 * program whose progress thread may call the MPI, a non-blocking call is an operation of ours if
 * its rule says so: such a program has no begins. */
int cco_start(cco_comm *state, cco_mode mode, const cco_call *call, MPI_Info info,
              MPI_Request *request);

#endif
