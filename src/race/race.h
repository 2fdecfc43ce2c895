/* SPDX-License-Identifier: BSD-3-Clause */
/* race.h - a race (CRESTA_RACE): implementations compared within the running program.
 *
 * First all blocking calls are watched, until the program's steps are known: a communicator with
 * all processes of the job (the anchor), and how many calls on it make a step.  Then arms, which
 * are sets of rules, take turns by blocks of steps, and what is measured is the time of the steps:
 * it contains waiting, imbalance and overlap besides the collectives.  Arms change in calls on the
 * anchor only.  Between rounds, outside of what is timed, the ranks add up their times, and rank 0
 * says how it goes on (race/judge.h).
 *
 * A program without steps has another kind of race, in which arms take turns by calls
 * (race/turns.h). */
#ifndef CCO_RACE_H
#define CCO_RACE_H

#include "core/comm.h"
#include "tune/rules.h"

/* Reads the text of the settings (race/settings.h), which may be NULL, for a race of the arms that
 * it names, or for CRESTA_ONLINE and CRESTA_GUARD.  False on an error, which `error` names. */
bool cco_race_read(const char *text, bool online, bool guard, char *error, size_t room);

/* The number of arms, 0 if no race is wanted, and their rules. */
int cco_race_arms(void);
const cco_rules *cco_race_rules(int arm);

/* All ranks have agreed on the settings.  The program of this rank may call from several threads at
 * the same time, or not. */
void cco_race_begin(bool many_threads);

/* A communicator has been set up, or has got other rules of its program. */
void cco_race_set_up(cco_comm *state);

/* Before a blocking call on a communicator that is watched, which the MPI will not refuse. */
void cco_race_call(cco_comm *state, const cco_call *call);

/* After it, if the state says CCO_WATCHED_TIMES. */
void cco_race_called(cco_comm *state, cco_coll coll);

/* True while arms may change: then begins may become operations of ours later, whatever the rules
 * of now say. */
bool cco_race_is_on(void);

/* A communicator has been made ready for begins; collective. */
void cco_race_prepare_begins(cco_comm *state);

/* Before a begin that the MPI will not refuse, in a program with a race, also when that is over:
 * ranks may make one begin before and after. */
bool cco_race_has_begun(void);
void cco_race_begins(cco_comm *state);

/* In MPI_Finalize. */
void cco_race_end(void);

#endif
