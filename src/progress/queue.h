/* SPDX-License-Identifier: BSD-3-Clause */
/* queue.h - the operations under way in this process.  Every thread that polls the queue progresses
 * all of them: the progress thread (wait/progress_thread.h), and threads of the program that wait.
 * No poll waits for another. */
#ifndef CCO_QUEUE_H
#define CCO_QUEUE_H

#include <stdbool.h>

struct cco_operation; /* progress/operation.h */

/* Adds an operation.  One with a stream set starts when it has that for itself. */
void cco_queue_add(struct cco_operation *o);

extern int cco_queue_count; /* use cco_queue_any */

/* True if there is an operation to progress or to end. */
static inline bool cco_queue_any(void)
{
    return __atomic_load_n(&cco_queue_count, __ATOMIC_ACQUIRE) > 0;
}

/* Polls all operations once; returns at once if another thread is polling.  True if one moved.
 * Without `calls_mpi`, operations over messages, and the ends of all, are left to the next poll
 * with it. */
bool cco_queue_progress(bool calls_mpi);

/* What is polled besides, by the thread that polls the operations: `poll` as cco_queue_progress.
 * Set before any is counted; `change` more of these are under way. */
typedef enum cco_queue_kind {
    CCO_QUEUE_REPLAYS,   /* record/replay.c */
    CCO_QUEUE_EXCHANGES, /* progress/exchanges.c */
    CCO_QUEUE_CHECKS,    /* validate/request.c */
    CCO_QUEUE_KINDS
} cco_queue_kind;
void cco_queue_also(cco_queue_kind kind, bool (*poll)(bool calls_mpi));
void cco_queue_count_also(int change);

/* When the next round of an operation over messages is expected to end, as of the last poll: ns of
 * CLOCK_MONOTONIC; 0 if that is unknown. */
long cco_queue_expected(void);

#endif
