/* SPDX-License-Identifier: BSD-3-Clause */
/* lost.h - waits on slot rings for ranks that will not come (base/watch.h). */
#ifndef CCO_LOST_H
#define CCO_LOST_H

#include "transport/shm/slot_ring.h"

/* In a wait for `rank`, after a pause: true if it writes nothing more.  Then the caller looks once
 * more, and gives up if what it waits for has not come. */
bool cco_lost_gone(const cco_slot_ring *b, int rank, int tries);
void cco_lost_give_up(const cco_slot_ring *b, int rank);

/* The error with which it has left, as it says itself; MPI_SUCCESS if it has not. */
int cco_lost_left_with(const cco_slot_ring *b, int rank);

/* The seat of a rank of the ring. */
int cco_lost_seat(const cco_slot_ring *b, int rank);

#endif
