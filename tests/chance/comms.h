/* SPDX-License-Identifier: BSD-3-Clause */
/* comms.h - the communicators of a program: made in every way, freed in any order. */
#ifndef CHANCE_COMMS_H
#define CHANCE_COMMS_H

#include "chance.h"

void comms_begin(void);

/* A new one, from one that there is, in a slot that is empty. */
void comms_make(dice *shared);

/* A duplicate of it, which is not in a slot; nothing is said about it to crestacoll. */
struct slot *comms_dup(const struct slot *of);

/* Some slot; one of all ranks if `all`. */
struct slot *comms_some(dice *shared);

/* The slot is empty from now on; each rank frees the communicator when it comes to it. */
void comms_leave(dice *shared);
void comms_leave_this(struct slot *slot);
void comms_leave_all(void);

/* Frees one of those, if there is one that this rank may free now. */
bool comms_free_one(dice *own);
bool comms_left(void);

/* Was CRESTA_Win_init called for one that was left?  Then no rank knows who still has it. */
bool comms_left_windows(void);

/* Which implementation is to run there from now on. */
void comms_choose(struct slot *slot, dice d);

#endif
