/* SPDX-License-Identifier: BSD-3-Clause */
/* queue.h - moves what has begun: everybody who looks moves all operations a little, the progress
 * thread (core/progress_thread.h) and whoever waits in crestacoll.  No look waits for another. */
#ifndef CCO_QUEUE_H
#define CCO_QUEUE_H

#include <stdbool.h>

struct cco_operation; /* progress/operation_pool.h */

/* An operation is under way from now on; one with a stream set starts when it has that for itself.
 */
void cco_queue_add(struct cco_operation *o);

extern int cco_queue_count; /* use cco_queue_any */

/* True if there is anything to move, or to end. */
static inline bool cco_queue_any(void)
{
    return __atomic_load_n(&cco_queue_count, __ATOMIC_ACQUIRE) > 0;
}

/* Looks at all once; at once returns where another thread is at it.  True if one moved.  Who may
 * not call the MPI leaves operations on messages, and the ends of all, to the next who may. */
bool cco_queue_progress(bool calls_mpi);

/* When the next of those on messages is due, as of the last look: ns of CLOCK_MONOTONIC; 0 if
 * nobody knows. */
long cco_queue_expected(void);

#endif
