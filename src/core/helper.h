/* SPDX-License-Identifier: BSD-3-Clause */
/* helper.h - a thread that moves on what is under way, while the program computes or waits in the
 * MPI.
 *
 * It sleeps while nothing is under way.  Otherwise it looks again and again, and naps in between:
 * the shorter, the less time has passed since something moved or began.  What passes through memory
 * takes the time of a core that may be the program's, and waits for nobody else: there it naps
 * longer.  It does not look while the program waits for what is under way. */
#ifndef CCO_HELPER_H
#define CCO_HELPER_H

#include <stdbool.h>

/* What it may move on, each more than the one before. */
typedef enum cco_help {
    CCO_HELP_NONE,   /* there is no thread */
    CCO_HELP_MEMORY, /* what passes through shared memory; it never calls the MPI */
    CCO_HELP_MPI     /* everything */
} cco_help;

/* What it does to look; true if something moved.  `*due`: when the next is expected to move, ns of
 * CLOCK_MONOTONIC; 0 if nobody knows. */
typedef bool (*cco_helper_look)(long *due);

/* Starts the thread, if it does not run yet; false if the system refuses. */
bool cco_helper_start(cco_helper_look look);

/* So many operations more, or less, are under way, of which it has to move so much. */
void cco_helper_count(int change, cco_help kind);

/* A thread of the program looks by itself, and will again at once: the helper need not, before it
 * has napped without another such word. */
void cco_helper_spare(void);

/* The program allows no second thread in the MPI (it asked for less than MPI_THREAD_MULTIPLE, and
 * got that for the helper's sake): operations of its own must not run on the helper, which the MPI
 * would do in any call of it while such a reduction is under way.  Set once. */
void cco_helper_be_wary(void);
extern bool cco_helper_is_wary; /* use cco_helper_wary */
static inline bool cco_helper_wary(void)
{
    return __atomic_load_n(&cco_helper_is_wary, __ATOMIC_RELAXED);
}

/* One such reduction more is under way, or less: in between the helper does not call the MPI.  When
 * this returns it is not in a call. */
void cco_helper_hold(int change);

/* The same while one thread is in a blocking call; an error handler may leave it without the end,
 * which the next such call makes good. */
void cco_helper_hold_call(bool now);

/* Around calls of the MPI by the helper; nothing but cco_helper_leave_mpi follows on false. */
bool cco_helper_enter_mpi(void);
void cco_helper_leave_mpi(void);

/* Ends the thread, which is not in a look then. */
void cco_helper_stop(void);

/* After the end of an operation, before the program knows of it: if it was the last that is under
 * way, returns when the helper is out of the MPI, where it does not come again before the next.
 * What the program calls now may end the MPI, without a word to us (PMPI_Finalize,
 * MPI_Session_finalize), and MPICH takes no locks from then on. */
void cco_helper_let_out(void);

#endif
