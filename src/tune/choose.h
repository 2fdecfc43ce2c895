/* SPDX-License-Identifier: BSD-3-Clause */
/* choose.h - from rules to the choices of a communicator. */
#ifndef CCO_CHOOSE_H
#define CCO_CHOOSE_H

#include "comm/comm.h"
#include "tune/rules.h"

/* Reads the rules for all communicators: the user's (CRESTA_IMPL) and the built-in ones; and says
 * what the settings ask for (cco_job, comm/facts.h). */
void cco_choose_read(void);

/* Adds those of a tuning file (CRESTA_TUNING): in MPI_Init, collective; and where that was not. */
void cco_choose_tuning_shared(void);
void cco_choose_tuning_own(void);

/* What rules of the job need besides being chosen from. */
void cco_choose_needs(const cco_rules *rules);

/* Makes the choices of a communicator, whose name and size are known: the user's rules, then those
 * of the tuning file, then its program's, then the built-in ones, then `mpi`.  Collective.  False
 * when memory runs out. */
bool cco_choose_for(cco_comm *state);

/* Where more rules stand among these. */
typedef enum cco_rules_place {
    CCO_INSTEAD_OF_USERS,
    CCO_BEFORE_ALL,
    CCO_AFTER_PROGRAMS /* before the built-in ones */
} cco_rules_place;

/* Chooses with other rules or more, which may be NULL. */
bool cco_choose_with(cco_comm *state, const cco_rules *more, cco_rules_place place);

#endif
