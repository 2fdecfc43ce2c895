/* SPDX-License-Identifier: BSD-3-Clause */
/* progress_thread.h - a thread that moves on what is under way, while the program computes or waits
 * in the MPI.
 *
 * It sleeps while nothing is under way.  Otherwise it looks again and again, and naps in between:
 * the shorter, the less time has passed since something moved or began.  What passes through memory
 * takes the time of a core that may be the program's, and waits for nobody else: there it naps
 * longer.  It does not look while the program waits for what is under way. */
#ifndef CCO_PROGRESS_THREAD_H
#define CCO_PROGRESS_THREAD_H

#include <stdbool.h>

/* What it may move on, each more than the one before. */
typedef enum cco_progress_level {
    CCO_PROGRESS_NONE,   /* there is no thread */
    CCO_PROGRESS_MEMORY, /* what passes through shared memory; it never calls the MPI */
    CCO_PROGRESS_MPI     /* everything */
} cco_progress_level;

/* What it does to look; true if something moved.  `*due`: when the next is expected to move, ns of
 * CLOCK_MONOTONIC; 0 if nobody knows. */
typedef bool (*cco_progress_poll)(long *due);

/* Starts the thread, if it does not run yet; false if the system refuses. */
bool cco_progress_thread_start(cco_progress_poll poll);

/* So many operations more, or less, are under way, of which it has to move so much. */
void cco_progress_thread_count(int change, cco_progress_level kind);

/* A thread of the program looks by itself, and will again at once: the progress thread need not,
 * before it has napped without another such word. */
void cco_progress_thread_spare(void);

/* The program allows no second thread in the MPI (it asked for less than MPI_THREAD_MULTIPLE, and
 * got that for the progress thread's sake): operations of its own must not run on the progress
 * thread, which the MPI would do in any call of it while such a reduction is under way.  Set once.
 */
void cco_progress_thread_keep_ops_off(void);
extern bool cco_progress_thread_ops_off; /* use cco_progress_thread_runs_no_ops */
static inline bool cco_progress_thread_runs_no_ops(void)
{
    return __atomic_load_n(&cco_progress_thread_ops_off, __ATOMIC_RELAXED);
}

/* One such reduction more is under way, or less: in between the progress thread does not call the
 * MPI.  When this returns it is not in a call. */
void cco_progress_thread_hold(int change);

/* The same while one thread is in a blocking call; an error handler may leave it without the end,
 * which the next such call makes good. */
void cco_progress_thread_hold_call(bool now);

/* Around calls of the MPI by the progress thread; nothing but cco_progress_thread_leave_mpi follows
 * on false. */
bool cco_progress_thread_enter_mpi(void);
void cco_progress_thread_leave_mpi(void);

/* Ends the thread, which is not in a look then. */
void cco_progress_thread_stop(void);

/* After the end of an operation, before the program knows of it: if it was the last that is under
 * way, returns when the progress thread is out of the MPI, where it does not come again before the
 * next. What the program calls now may end the MPI, without a word to us (PMPI_Finalize,
 * MPI_Session_finalize), and MPICH takes no locks from then on. */
void cco_progress_thread_wait_outside_mpi(void);

#endif
