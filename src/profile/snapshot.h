/* SPDX-License-Identifier: BSD-3-Clause */
/* snapshot.h - what a profile has so far, for programs that do not come to their end
 * (CRESTA_PROFILE_EVERY): rank 0 writes its own rows at regular times, in a blocking call of its
 * own, and asks no other rank. */
#ifndef CCO_SNAPSHOT_H
#define CCO_SNAPSHOT_H

#include <stdint.h>

#include "profile/profile.h"

/* Copies of all rows of this rank so far; no other thread may call collectives meanwhile.  They are
 * the caller's. */
cco_rows cco_snapshot_rows(void);

/* Ticks at which the next one is due; never on other ranks. */
extern uint64_t cco_snapshot_due;

/* To FILE.so-far, at most every `seconds`, more than 0.  None where threads may call MPI at once:
 * they count beside each other. */
void cco_snapshot_begin(double seconds);

/* It is due. */
void cco_snapshot_write(void);

#endif
