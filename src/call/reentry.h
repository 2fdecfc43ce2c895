/* SPDX-License-Identifier: BSD-3-Clause */
/* reentry.h - calls of the MPI on this thread that come from libraries below us, not from the
 * program: OpenCoarrays calls MPI_x by its public names.
 *
 * Nothing of the program may run between enter and leave.  Its error handlers, which the MPI calls
 * in the middle of a call on its communicator, may never come back (longjmp, a C++ exception), and
 * may call collectives: with the guard up this rank would go straight to the MPI and the others
 * would not.  Operations of the program run in the middle of our algorithms. */
#ifndef CCO_REENTRY_H
#define CCO_REENTRY_H

#include <stddef.h>
#include <stdint.h>

/* Four bytes of the room that every loader keeps for libraries, reached without a call. */
extern _Thread_local int cco_reentry_depth __attribute__((tls_model("initial-exec")));

static inline void cco_reentry_enter(void)
{
    cco_reentry_depth++;
}

static inline void cco_reentry_leave(void)
{
    cco_reentry_depth--;
}

static inline int cco_is_reentered(void)
{
    return cco_reentry_depth > 0;
}

/* A mark is the address of a thread, and in its lowest bits the collective, or that it is free. */
enum { CCO_MARK_BITS = 5, CCO_MARK_FREE = (1 << CCO_MARK_BITS) - 1 };

/* The mark of a communicator (cco_comm_enter) that this thread has; its address is the thread. */
extern _Thread_local uint64_t *cco_mark_held __attribute__((tls_model("initial-exec")));

static inline uint64_t cco_mark_of_thread(unsigned coll)
{
    return (uint64_t)(uintptr_t)&cco_mark_held << CCO_MARK_BITS | coll;
}

/* Before an error handler, which may never come back, or may free the communicator. */
void cco_mark_give_back(void);

#endif
