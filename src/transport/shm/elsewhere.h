/* SPDX-License-Identifier: BSD-3-Clause */
/* elsewhere.h - waits on slot rings for a rank that makes another call.
 *
 * The ranks of a program that is right go through the calls on their rings in one order.  So what a
 * rank waits for never comes if the rank that is to write it has ended the call, or is in one that
 * comes later, or in the same one but of another kind.  Only long waits look for that, and only
 * they say in which call they are.
 * No number is compared again after a copy.  A writer waits for its readers, and one that has
 * others says so by the root in its word, unless its ring goes round between a reader's two loads.
 */
#ifndef CCO_SHM_ELSEWHERE_H
#define CCO_SHM_ELSEWHERE_H

#include "transport/shm/slot_ring.h"

/* In a wait for `rank`, after a pause: true if it makes another call.  Then the caller looks once
 * more, and gives up if what it waits for has not come. */
bool cco_elsewhere(const cco_slot_ring *b, int rank, int tries);
void cco_elsewhere_give_up(const cco_slot_ring *b, int rank);

/* Says no longer in which call this rank has waited: so old a number comes again. */
void cco_elsewhere_forget(const cco_slot_ring *b);

/* What a slot of `rank` says is not what this call expects: the call goes on without its data. */
void cco_elsewhere_note(cco_slot_ring *b, int rank, uint64_t here, uint64_t there);

/* The end of a call that may have noted such a rank: `rc`, or the class of that error. */
int cco_elsewhere_end(cco_slot_ring *b, int rc);

#endif
