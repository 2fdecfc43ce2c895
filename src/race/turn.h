/* SPDX-License-Identifier: BSD-3-Clause */
/* turn.h - whose turn it is where calls are compared one by one: the arm of each call in a row of
 * like calls, from the number of the call alone, so that ranks need not talk about it.
 *
 * A row begins with a call of each arm, which does not count: it sets things up.  Then come rounds.
 * A round is a block of calls of each arm in a random order, and then again in the reverse order.
 * In a block with several calls the first does not count: the arm before has left the caches to
 * itself.  Blocks become longer now and then, so that a long program writes no more than it must.
 */
#ifndef CCO_TURN_H
#define CCO_TURN_H

#include <stdbool.h>
#include <stdint.h>

#include "race/judge.h"

typedef struct cco_turn {
    uint64_t seed;
    int arms, calls;    /* of a block in the first rounds */
    cco_race_next next; /* the round that is on */
    int8_t order[CCO_BLOCKS];
    int blocks, block; /* how many, and which is on */
    int call;          /* of it, from 0 */
} cco_turn;

/* A row of calls, of `arms` (2 to CCO_ARMS) in blocks of `calls` (1 or more). */
void cco_turn_begin(cco_turn *turn, uint64_t seed, int arms, int calls);

/* The arm of the next call, and whether its time counts. */
int cco_turn_arm(const cco_turn *turn);
bool cco_turn_counts(const cco_turn *turn);

/* The number of calls that count in a block of this round; 0 while things are set up. */
int cco_turn_counted(const cco_turn *turn);

/* That call has been made.  True if it was the last one of its round: cco_turn_begin_round must
 * follow. */
bool cco_turn_next(cco_turn *turn);
void cco_turn_begin_round(cco_turn *turn);

#endif
