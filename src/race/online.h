/* SPDX-License-Identifier: BSD-3-Clause */
/* online.h - the races of CRESTA_ONLINE and CRESTA_GUARD: which arms run against which.
 *
 * First the models, each for all collectives: one that is clearly better is used from then on, and
 * those that were not told apart from it run against it; then the best of them without one of the
 * collectives that the program uses; at last, again and again, what is chosen by then against the
 * MPI's own.
 *
 * A choice by time must not change the answers of a program from run to run.  Another model may add
 * floating-point numbers in another order.  So of reductions only those take part that give the
 * same bits in any order: operations of the standard on integers.  (Not the least and greatest of
 * floating-point numbers: of 0 and -0, and beside a NaN, the order decides.  Not the sums of two
 * ranks either: a sum of two NaNs is one of them.)
 *
 * All ranks come to the same arms, from the settings and from what they have agreed on. */
#ifndef CCO_ONLINE_H
#define CCO_ONLINE_H

#include "race/judge.h"

/* One race of several: of the arms in `alive`. */
typedef struct cco_heat {
    cco_race_aim aim;
    int reference;
    uint32_t alive;
} cco_heat;

/* Adds the first arms to settings that have none: arm 0 is what is chosen anyway. */
void cco_online_begin(cco_race_settings *settings, bool online, bool guard);

/* Whether there is anything of this: races go on after a verdict, and the winner stays. */
bool cco_online_is_on(void);

/* The variable that an arm is there for: "CRESTA_ONLINE" or "CRESTA_GUARD". */
const char *cco_online_variable(int arm);

/* The first heat, also when the program has changed its steps; false if it has done so too often.
 * `best` is the arm that runs. */
bool cco_online_start(cco_race_settings *settings, int best, cco_heat *heat);

/* The heat after one that `best` has won; `open` has a bit for each arm about which it has not
 * decided, `used` one for each collective of the program's steps, on any rank.  False if there is
 * none. */
bool cco_online_next(cco_race_settings *settings, int best, uint32_t open, uint32_t used,
                     cco_heat *heat);

/* Whether the arms choose for a call with valid arguments; the same on all ranks. */
bool cco_online_concerns(const cco_call *call);

/* An arm that does as this one in a program that uses these collectives: without reductions that it
 * does not use, whose rules would make calls for other types slower.  Maybe the same one. */
int cco_online_trim(cco_race_settings *settings, int arm, uint32_t used);

/* Adds the arm that leaves out all that the arms in `parts` leave out. */
void cco_online_combine(cco_race_settings *settings, uint32_t parts);

/* The rules of an arm for the collectives in `used`: "alltoall=shm,..."; "" if there are none. */
void cco_online_rules(int arm, uint32_t used, char *text, size_t room);

#endif
