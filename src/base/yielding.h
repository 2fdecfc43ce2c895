/* SPDX-License-Identifier: BSD-3-Clause */
/* yielding.h - whether a rank that waits yields its core, beside other programs.
 *
 * A yield gives the core to another program for a time slice.  Sometimes that is good: our peer may
 * share its core with the same program, and gets it the sooner.  Sometimes it costs a slice for
 * each wait, on each rank.  So a thread that saw a yield take long tries both for a while, and goes
 * on with what brought more waits to an end in the same time. */
#ifndef CCO_YIELDING_H
#define CCO_YIELDING_H

#include <stdbool.h>

/* A wait begins to last. */
void cco_yielding_wait(void);

/* Yields, or not; true if it did.  Local, for each thread by itself. */
bool cco_yielding_try(void);

#endif
