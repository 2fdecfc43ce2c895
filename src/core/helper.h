/* SPDX-License-Identifier: BSD-3-Clause */
/* helper.h - a thread that moves on what is under way, while the program computes or waits in the
 * MPI.
 *
 * It sleeps while nothing is under way.  Otherwise it looks again and again, and naps in between:
 * the shorter, the less time has passed since something moved or began. */
#ifndef CCO_HELPER_H
#define CCO_HELPER_H

#include <stdbool.h>

/* What it does to look; true if something moved. */
typedef bool (*cco_helper_look)(void);

/* Starts the thread, if it does not run yet; false if the system refuses. */
bool cco_helper_start(cco_helper_look look);

/* So many operations more, or less, are under way. */
void cco_helper_count(int change);

/* Ends the thread, which is not in a look then. */
void cco_helper_stop(void);

#endif
