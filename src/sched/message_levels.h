/* SPDX-License-Identifier: BSD-3-Clause */
/* message_levels.h - when each message of a schedule can be sent, counted in messages: its level.
 *
 * The level of a message is the number of messages that must come before it, one after the other:
 * those of earlier rounds of its sender, and of its receiver.  Both ends know the same level,
 * though their rounds may have different numbers.  Messages of calls that do not depend on each
 * other, with the same two ends and the same level, can be one (merge.h).
 *
 * Levels are found in a rehearsal: the ranks go through their schedules round by round, and in
 * place of each message both ends tell each other the least level that it has for them.  No
 * schedule deadlocks where sends wait for their receives (simulator), so no rehearsal does. */
#ifndef CCO_MESSAGE_LEVELS_H
#define CCO_MESSAGE_LEVELS_H

#include "sched/step.h"

typedef struct cco_message_levels {
    const cco_sched *sched;
    int *of;        /* of each step, where that is a message */
    int first, end; /* the steps of the round that is open */
    int least;      /* level of its messages */
} cco_message_levels;

/* Opens the first round of a schedule without one-sided steps, which must stay.  False when memory
 * runs out. */
bool cco_message_levels_open(cco_message_levels *levels, const cco_sched *s);

/* A message of the open round is at the level of that of its ends that comes later. */
void cco_message_levels_meet(cco_message_levels *levels, int step, int least_of_peer);

/* All messages of the round have met: opens the next one.  False behind the last. */
bool cco_message_levels_next(cco_message_levels *levels);

void cco_message_levels_close(cco_message_levels *levels);

static inline bool cco_step_is_message(const cco_step *step)
{
    return step->kind == CCO_STEP_SEND || step->kind == CCO_STEP_RECV;
}

#endif
