/* SPDX-License-Identifier: BSD-3-Clause */
/* rounds.h - the rounds of a race, once the steps of the program are known: blocks of steps, and
 * between them what all ranks decide together.  Everything happens in calls on the anchor. */
#ifndef CCO_ROUNDS_H
#define CCO_ROUNDS_H

#include "comm/comm.h"
#include "race/online.h"

/* The first round begins in this call on `anchor`: of all arms, or of a heat if there is one. */
void cco_rounds_begin(cco_race_settings *settings, cco_comm *anchor, const cco_heat *heat);

/* A step has ended, and the next one begins.  True if the race is over. */
bool cco_rounds_step(void);

/* The program does something else than its steps: the arm that runs meanwhile.  Later it has come
 * back to them, and the round begins again. */
void cco_rounds_pause(void);
void cco_rounds_again(void);

/* The arm that runs outside of rounds: the reference, or what won so far (CRESTA_ONLINE). */
int cco_rounds_home(void);

/* A collective that the program calls. */
void cco_rounds_uses(cco_coll coll);

/* At the end of the program: what CRESTA_ONLINE and CRESTA_GUARD have found.  If the steps
 * of the program were never known, `why` says why not. */
void cco_rounds_report(const char *why);
void cco_rounds_end(void);

#endif
