/* SPDX-License-Identifier: BSD-3-Clause */
/* thread_count.h - whether the threads of this process that wait in collectives are more than its
 * cores.  Then one that waits keeps from its core another, for which a thread of another rank may
 * wait, and gives it away soon (base/pause.h). */
#ifndef CCO_THREAD_COUNT_H
#define CCO_THREAD_COUNT_H

#include <stdbool.h>

/* Cores for each process of this node.  Until somebody says so, threads do not count. */
void cco_threads_cores(int each);

/* This thread waits: it counts until it ends. */
void cco_threads_note(void);

extern int cco_threads_beyond; /* use the function */

static inline bool cco_threads_crowd(void)
{
    return __atomic_load_n(&cco_threads_beyond, __ATOMIC_RELAXED) > 0;
}

#endif
