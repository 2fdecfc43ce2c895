/* SPDX-License-Identifier: BSD-3-Clause */
/* async.h - CRESTA_ASYNC: whether a thread of ours moves on what has begun (core/helper.h).
 *
 * It calls the MPI, so there is one only with MPI_THREAD_MULTIPLE. */
#ifndef CCO_ASYNC_H
#define CCO_ASYNC_H

#include <stdbool.h>

extern bool cco_async_allowed; /* use cco_async */

/* True where the thread runs, or will when something begins. */
static inline bool cco_async(void)
{
    return __atomic_load_n(&cco_async_allowed, __ATOMIC_ACQUIRE);
}

/* The thread level to ask the MPI for; before MPI_Init. */
int cco_async_level(int required);

/* After MPI_Init: decides, and says so if what was asked for cannot be had. */
void cco_async_begin(void);

/* Something begins: from now on the thread runs, if it is allowed to. */
void cco_async_start(void);

/* Before MPI_Finalize, or in it: no thread is left. */
void cco_async_end(void);

/* One look at everything that is under way: true if something of ours moved. */
bool cco_async_move(void);

#endif
