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

/* Ends the thread, which is not in a look then. */
void cco_helper_stop(void);

#endif
