/* SPDX-License-Identifier: BSD-3-Clause */
/* choose.h - from rules to the choices of a communicator. */
#ifndef CCO_CHOOSE_H
#define CCO_CHOOSE_H

#include "core/comm.h"
#include "tune/rules.h"

/* The user's rules (CRESTA_IMPL) and the built-in ones, for all communicators.  Either may be NULL.
 */
void cco_choose_from(cco_rules *user, cco_rules *builtin);

/* The rules of a tuning file (CRESTA_TUNING), likewise; they are read later. */
void cco_choose_from_tuning(cco_rules *tuning);

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
