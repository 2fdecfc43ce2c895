/* SPDX-License-Identifier: BSD-3-Clause */
/* progress.h - CRESTA_ASYNC: whether a progress thread (wait/progress_thread.h) runs, and what it
 * may progress.
 *
 * It may call the MPI with MPI_THREAD_MULTIPLE only.  Below that it progresses what passes through
 * shared memory, and the program's calls of MPI_Wait* and MPI_Test* complete the requests; so these
 * must pass here. */
#ifndef CCO_PROGRESS_H
#define CCO_PROGRESS_H

#include <stdbool.h>

#include "wait/progress_thread.h"

extern cco_progress_level cco_progress_allowed_level; /* use cco_progress_allowed */

/* What the thread may progress, if it runs, or will when something begins. */
static inline cco_progress_level cco_progress_allowed(void)
{
    return __atomic_load_n(&cco_progress_allowed_level, __ATOMIC_ACQUIRE);
}

/* True if it may call the MPI. */
static inline bool cco_progress_calls_mpi(void)
{
    return cco_progress_allowed() == CCO_PROGRESS_MPI;
}

/* Whether the calls that only start a collective must pass here. */
bool cco_progress_follows_starts(void);

/* The thread level to ask the MPI for; before MPI_Init. */
int cco_progress_thread_level(int required);

/* Whether that was asked, or need not be, because MPI_Init of another copy of us does. */
bool cco_progress_level_asked(void);
void cco_progress_level_ask(void);

/* True if the program may call from several threads at the same time; after MPI_Init. */
bool cco_progress_many_threads(void);

/* Between these the MPI can be moved, and is in long waits. */
void cco_progress_move_begin(void);
void cco_progress_move_end(void);

/* After MPI_Init: decides, with a warning if what CRESTA_ASYNC asks for is unavailable. */
void cco_progress_begin(void);

/* Decides where MPI_Init did not pass by, with MPI_THREAD_MULTIPLE only. */
void cco_progress_begin_late(void);

/* The thread runs from now on, if it is allowed to; if the system refuses, that is a fact of this
 * rank (comm/facts.h). */
void cco_progress_start(void);

/* Before MPI_Finalize, or in it: no thread is left. */
void cco_progress_end(void);

#endif
