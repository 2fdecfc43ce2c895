/* SPDX-License-Identifier: BSD-3-Clause */
/* progress.h - CRESTA_ASYNC: whether a thread of ours moves on what has begun
 * (core/progress_thread.h), and what.
 *
 * It may call the MPI with MPI_THREAD_MULTIPLE only.  Below that it moves what passes through
 * shared memory, and leaves it to the program's calls of MPI_Wait* and MPI_Test* to tell the MPI
 * that a request is complete; so these must pass here. */
#ifndef CCO_PROGRESS_H
#define CCO_PROGRESS_H

#include <stdbool.h>

#include "core/progress_thread.h"

extern cco_progress_level cco_progress_allowed_level; /* use cco_progress_allowed */

/* What the thread moves, if it runs, or will when something begins. */
static inline cco_progress_level cco_progress_allowed(void)
{
    return __atomic_load_n(&cco_progress_allowed_level, __ATOMIC_ACQUIRE);
}

/* True if it may call the MPI. */
static inline bool cco_progress_calls_mpi(void)
{
    return cco_progress_allowed() == CCO_PROGRESS_MPI;
}

/* The thread level to ask the MPI for; before MPI_Init. */
int cco_progress_thread_level(int required);

/* After MPI_Init: decides, and says so if what was asked for cannot be had. */
void cco_progress_begin(void);

/* The thread runs from now on, if it is allowed to; if the system refuses, that is a fact of this
 * rank (core/facts.h). */
void cco_progress_start(void);

/* Before MPI_Finalize, or in it: no thread is left. */
void cco_progress_end(void);

/* One look at everything that is under way, by who may call the MPI: true if something of ours
 * moved. */
bool cco_progress_all(void);

#endif
