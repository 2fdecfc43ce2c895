/* SPDX-License-Identifier: BSD-3-Clause */
/* arms.h - the choices of communicators under each arm of a race. */
#ifndef CCO_RACE_ARMS_H
#define CCO_RACE_ARMS_H

#include "core/comm.h"
#include "race/settings.h"

/* The rules of the arms, which must stay; the arm of communicators that are set up from now on. */
void cco_arms_begin(const cco_race_settings *settings);

/* A communicator has been set up, or its program has given it other rules: its choices are those of
 * the present arm. */
void cco_arms_set_up(cco_comm *state);

/* All communicators of this process take another arm, each in its own next blocking call.  To be
 * called in the same blocking call of all ranks: blocking collectives may synchronize, so that a
 * valid program has them in one order on all ranks, and a communicator's next one is the same for
 * all of its ranks.  Begins need not be in that order; they keep to the arm that their communicator
 * has. */
void cco_arms_switch(int arm);

/* In a blocking call on a communicator, whose state says CCO_WATCHED_ARM. */
void cco_arms_catch_up(cco_comm *state);

#endif
