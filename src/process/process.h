/* SPDX-License-Identifier: BSD-3-Clause */
/* process.h - the state of the process: nothing, idle, active, over. */
#ifndef CCO_PROCESS_H
#define CCO_PROCESS_H

#include <stdbool.h>

#include "mpi/mpi_compat.h"

typedef enum cco_phase {
    CCO_UNREAD, /* the environment has not been read yet */
    CCO_IDLE,   /* all ranks agree that every call goes straight to the MPI; also after the end */
    CCO_NEARBY, /* the same but for neighborhood collectives, which `auto` may have to replace */
    CCO_ACTIVE,
} cco_phase;

/* Read without a lock on every call; moves from unread to one of the others once, to active by
 * CRESTA_Set_impl, to idle at the end. */
extern cco_phase cco_process_phase;

static inline cco_phase cco_phase_now(void)
{
    return __atomic_load_n(&cco_process_phase, __ATOMIC_ACQUIRE);
}

/* After MPI_Init: reads the environment, compares it over all ranks, stops the job if it is wrong.
 * Collective over MPI_COMM_WORLD. */
void cco_process_begin(void);

/* Reads the environment where MPI_Init did not pass by (sessions): in whatever the program calls
 * first.  No communication. */
void cco_process_begin_late(void);

static inline void cco_process_enter(void)
{
    if (cco_phase_now() == CCO_UNREAD)
        cco_process_begin_late();
}

/* With CRESTA_OFF=1 nothing has begun; what the program asks of us by functions that no MPI has
 * (recordings, memory that ranks share) needs an end all the same. */
void cco_process_serve(void);

/* True if nothing asks for it that a communicator be set up, for its collectives of neighbors or
 * for others; equal on all its ranks. */
bool cco_process_ignores(MPI_Comm comm, bool near);

/* cco_job.met (comm/facts.h), by any thread. */
bool cco_process_met(void);

/* CRESTA_Set_impl was called here. */
void cco_process_wake(void);

/* Whether calls are counted though the environment does not ask for it, so that communicators are
 * set up.  Said on all ranks at the same place in the order of their collectives. */
void cco_process_count(bool counts);

#endif
