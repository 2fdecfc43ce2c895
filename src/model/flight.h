/* SPDX-License-Identifier: BSD-3-Clause */
/* flight.h - schedules that run while the program does something else: what a begin starts.
 *
 * A flight is a call under way on the MPI's sends and receives, in tags of its own, with everything
 * that it needs: schedule, scratch, packed data.  Its request is a generalized one of the MPI (MPI
 * 4.0, section 13.2).  Flights move when somebody looks at them: the helper (core/helper.h), and
 * whoever waits in crestacoll.  No look waits for another. */
#ifndef CCO_FLIGHT_H
#define CCO_FLIGHT_H

#include "core/comm.h"

/* Makes what the flights of a communicator need, in a collective call; nothing if it is there. */
void cco_flights_prepare(cco_comm *state);

/* True if a call can be a flight; the same on all ranks. */
bool cco_flight_takes(const cco_comm *state, const cco_way *way, const cco_call *call);

/* Begins a call that can; its arrays must stay until the request ends, types and communicator need
 * not.  Neither waits nor communicates.  Returns MPI_SUCCESS or an MPI error class. */
int cco_flight_begin(cco_comm *state, const cco_way *way, const cco_call *call,
                     MPI_Request *request);

extern int cco_flights_running; /* use cco_flights_any */

/* True if there is anything to move. */
static inline bool cco_flights_any(void)
{
    return __atomic_load_n(&cco_flights_running, __ATOMIC_ACQUIRE) > 0;
}

/* Looks at all once; at once returns where another thread is at it.  True if one moved. */
bool cco_flights_move(void);

#endif
