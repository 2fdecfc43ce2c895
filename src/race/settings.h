/* SPDX-License-Identifier: BSD-3-Clause */
/* settings.h - what a race is about: the file that CRESTA_RACE names.
 *
 *     crestacoll race 1
 *     output FILE       rank 0 appends its results there, a JSON object in a line
 *     seconds 20        of racing; 0, the default: to the end of the program
 *     seed 17           of the order of the arms; 1
 *     watch_ms 500      how long the program is watched at least before its steps are chosen; 500
 *     block_ms 1        how long a block of steps takes at least; 1, 0.25 with CRESTA_ONLINE
 *     drop 1            arms that are clearly slower leave; 0: all stay
 *     confirm 1         afterwards, the reference against the leader in long blocks; 0: no
 *     calls 4           arms take turns by calls, in blocks of so many (race/turns.h); 0: by steps
 *     youth 32          the first calls on a communicator, which all run under one arm then; 32
 *     every_call 1      for tests: each call on the first communicator with all processes is a step
 *     regret 0.02       share of the time that trying may cost (CRESTA_ONLINE); 0: not limited
 *     guard 0.01        share of the time in which CRESTA_GUARD tries the MPI's own
 *     arm NAME RULES    rules as in CRESTA_IMPL; the first arm is the reference
 */
#ifndef CCO_RACE_SETTINGS_H
#define CCO_RACE_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "tune/choose.h"

enum {
    CCO_ARMS = 32,      /* with those that are made while the program runs; */
    CCO_FILED_ARMS = 16 /* in a file */
};

typedef struct cco_race_arm {
    char name[32];
    cco_rules *rules;      /* NULL: none but those that hold anyway */
    cco_rules_place place; /* where they stand among the others */
} cco_race_arm;

typedef struct cco_race_settings {
    char *output;                                                        /* NULL: none */
    double seconds, seed, watch_ms, block_ms, drop, confirm, every_call; /* as in the file; */
    double calls, youth, regret, guard;                                  /* 0 for no */
    int arms;
    cco_race_arm arm[CCO_ARMS];
} cco_race_settings;

/* Without a file, for CRESTA_ONLINE and CRESTA_GUARD. */
void cco_race_settings_preset(cco_race_settings *settings);

/* Reads the text of such a file.  It must name arms, two or more, or none if they are not `wanted`.
 * False on an error, which `error` names with its line; `settings` is empty then.  What the text
 * does not name is preset. */
bool cco_race_settings_read(cco_race_settings *settings, const char *text, bool wanted, char *error,
                            size_t room);

void cco_race_settings_free(cco_race_settings *settings);

#endif
