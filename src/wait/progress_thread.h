/* SPDX-License-Identifier: BSD-3-Clause */
/* progress_thread.h - a thread that progresses operations under way while the program computes or
 * waits in the MPI.
 *
 * It sleeps while nothing is under way.  Otherwise it polls, and sleeps between two polls: the
 * shorter, the less time has passed since something moved or began.  What passes through memory
 * takes the time of a core that may be the program's, and waits for nobody else: there it sleeps
 * longer.  It does not poll while the program waits for what is under way. */
#ifndef CCO_PROGRESS_THREAD_H
#define CCO_PROGRESS_THREAD_H

#include <stdbool.h>

/* What it may progress, each more than the one before. */
typedef enum cco_progress_level {
    CCO_PROGRESS_NONE,   /* there is no thread */
    CCO_PROGRESS_MEMORY, /* what passes through shared memory; it never calls the MPI */
    CCO_PROGRESS_MPI     /* everything */
} cco_progress_level;

/* Polls all that is under way; true if something moved.  `*expected`: when the next is expected to
 * move, ns of CLOCK_MONOTONIC; 0 if that is unknown. */
typedef bool (*cco_progress_poll)(long *expected);

/* Starts the thread unless it runs.  False if the system refuses a thread. */
bool cco_progress_thread_start(cco_progress_poll poll);

/* `change` operations more (or fewer) are under way, which need that level of progress. */
void cco_progress_thread_count(int change, cco_progress_level kind);

/* A thread of the program polls by itself, and will again at once: the progress thread need not
 * poll until it has slept once without another such call. */
void cco_progress_thread_spare(void);

/* The program asked for less than MPI_THREAD_MULTIPLE, and got that for the progress thread's sake.
 * Reduction operations of the program must then not run on the progress thread, as the MPI would do
 * in any call of that thread while such a reduction is under way.  Set once. */
void cco_progress_thread_keep_ops_off(void);
extern bool cco_progress_thread_ops_off; /* use cco_progress_thread_runs_no_ops */
static inline bool cco_progress_thread_runs_no_ops(void)
{
    return __atomic_load_n(&cco_progress_thread_ops_off, __ATOMIC_RELAXED);
}

/* `change` such reductions more (or fewer) are under way: while there are any, the progress thread
 * does not call the MPI.  It is in no call when this returns. */
void cco_progress_thread_hold(int change);

/* Holds the thread for a blocking call of the program.  An error handler may leave that call for
 * good; the next such call makes up for it. */
void cco_progress_thread_hold_call(bool now);

/* Around calls of the MPI by the progress thread.  On false, it may only call
 * cco_progress_thread_leave_mpi. */
bool cco_progress_thread_enter_mpi(void);
void cco_progress_thread_leave_mpi(void);

/* Ends the thread, which is in no poll then. */
void cco_progress_thread_stop(void);

/* After the end of an operation, before the program knows of it: if it was the last one under way,
 * returns when the progress thread is out of the MPI, where it does not come again before the next.
 * The program's next call may end the MPI past us (PMPI_Finalize, MPI_Session_finalize), and MPICH
 * takes no locks from then on. */
void cco_progress_thread_wait_outside_mpi(void);

#endif
