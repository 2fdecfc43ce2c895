/* SPDX-License-Identifier: BSD-3-Clause */
/* turns.h - a race without steps: the arms take turns by calls.
 *
 * For programs in which no sequence of collectives repeats.  On each communicator, the calls of one
 * collective and size class are a row, and which arm a call runs under follows from its number in
 * the row (race/turn.h): all ranks of the communicator count alike, and none asks another.  After
 * the call the communicator has the reference again, so that begins, which ranks may make before or
 * after it, always find that.
 *
 * The first calls on a communicator, its youth, all run under one arm, with what that sets up: for
 * a communicator that is freed soon this is what counts.  Communicators are numbered, and the arm
 * of a youth follows from the number.  Ranks agree on it when the communicator is set up.
 *
 * Each rank writes its own times: there is no call in which all ranks could meet. */
#ifndef CCO_TURNS_H
#define CCO_TURNS_H

#include "comm/comm.h"
#include "race/settings.h"

/* The settings must stay. */
void cco_turns_begin(const cco_race_settings *settings);

/* A communicator has been set up, or given other rules; collective the first time. */
void cco_turns_set_up(cco_comm *state);

/* Before a blocking call of `bytes`, which the MPI will not refuse, and after it. */
void cco_turns_call(cco_comm *state, cco_coll coll, MPI_Count bytes);
void cco_turns_called(cco_comm *state, cco_coll coll);

/* In MPI_Finalize, while there are states. */
void cco_turns_end(void);

#endif
