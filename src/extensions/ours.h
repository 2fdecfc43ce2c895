/* SPDX-License-Identifier: BSD-3-Clause */
/* ours.h - collectives that no MPI has: they pass through the choice also in a program that asks
 * for nothing, and their begins always run a schedule of ours. */
#ifndef CCO_OURS_H
#define CCO_OURS_H

#include "comm/comm.h"
#include "crestacoll.h"
#include "progress/path.h"

/* Runs a blocking call; the first one on a communicator sets it up. */
int cco_dispatch_ours(const cco_call *call);

/* Before a begin: sets the communicator up and opens its messages, both if need be, together with
 * all its ranks, since they all begin.  MPI_SUCCESS, or what is wrong with the call. */
int cco_prepare_ours(const cco_call *call);

/* Where no path is, such a begin goes over messages; no rank need know.  So does one that a rule
 * keeps from the MPI because it is wrong there, on a rank by itself. */
void cco_settle_ours(cco_comm *state, const cco_call *call, cco_begin_path *begin, cco_way *way);

/* Makes a persistent call: the recording of one that does not run now.  Collective. */
int cco_profile_count(const cco_call *call, CRESTA_Recording *recording);

#endif
