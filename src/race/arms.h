/* SPDX-License-Identifier: BSD-3-Clause */
/* arms.h - the choices of communicators under each arm of a race. */
#ifndef CCO_RACE_ARMS_H
#define CCO_RACE_ARMS_H

#include "comm/comm.h"
#include "race/settings.h"

/* The rules of the arms, which must stay; the arm of communicators that are set up from now on. */
void cco_arms_begin(const cco_race_settings *settings);

/* A communicator has been set up, or its program has given it other rules: its choices are those of
 * the present arm. */
void cco_arms_set_up(cco_comm *state);

/* All communicators of this process take another arm.  To be called in the same blocking call of
 * all ranks: blocking collectives may synchronize, so that a valid program has them in one order on
 * all ranks, and a communicator's next one, in which it takes the arm, is the same for all of its
 * ranks.
 *
 * Begins need not be in that order.  The ranks of `comm`, which are all, agree on the begin with
 * which the arm comes to a communicator with begins; MPI_COMM_NULL: no rank has one. */
void cco_arms_switch(int arm, MPI_Comm comm);

/* One communicator takes an arm for a blocking call on it.  To be called by all of its ranks before
 * the same call, and with the reference, 0, after it. */
void cco_arms_take(cco_comm *state, int arm);

/* True if this process has a communicator with begins. */
bool cco_arms_have_begins(void);

/* In a blocking call, and in a begin, on a communicator whose state says CCO_WATCHED_ARM. */
void cco_arms_catch_up(cco_comm *state);
void cco_arms_follow_begin(cco_comm *state);

/* Makes ready what begins run over under each arm; collective. */
void cco_arms_prepare_begins(cco_comm *state);

/* No communicator takes another arm any more. */
void cco_arms_end(void);

#endif
