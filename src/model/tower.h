/* SPDX-License-Identifier: BSD-3-Clause */
/* tower.h - moves what has begun: everybody who looks moves all flights a little, the helper
 * (core/helper.h) and whoever waits in crestacoll.  No look waits for another. */
#ifndef CCO_TOWER_H
#define CCO_TOWER_H

#include <stdbool.h>

struct cco_flight; /* model/yard.h */

/* A flight is under way from now on; one with a runway starts when it has that for itself. */
void cco_flights_add(struct cco_flight *f);

extern int cco_flights_running; /* use cco_flights_any */

/* True if there is anything to move, or to end. */
static inline bool cco_flights_any(void)
{
    return __atomic_load_n(&cco_flights_running, __ATOMIC_ACQUIRE) > 0;
}

/* Looks at all once; at once returns where another thread is at it.  True if one moved.  Who may
 * not call the MPI leaves flights on messages, and the ends of all, to the next who may. */
bool cco_flights_move(bool calls_mpi);

/* When the next of those on messages is due, as of the last look: ns of CLOCK_MONOTONIC; 0 if
 * nobody knows. */
long cco_flights_due(void);

#endif
