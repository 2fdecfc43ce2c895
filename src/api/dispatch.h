/* SPDX-License-Identifier: BSD-3-Clause */
/* dispatch.h - from a call to its implementation: what every generated entry point does. */
#ifndef CCO_DISPATCH_H
#define CCO_DISPATCH_H

#include "process/process.h"
#include "comm/comm.h"
#include "call/reentry.h"
#include "plan/call_cache.h"

/* In place of the state of a communicator: the call comes from a library below us, and is none of
 * the program's. */
extern cco_comm cco_comm_reentrant;

/* Likewise where several threads may call: which communicator it is, is looked up when the call
 * has its mark (cco_comm_enter). */
extern cco_comm cco_comm_any_thread;

/* The paths of every call that something was asked for; see cco_enter and cco_enter_start. */
cco_comm *cco_enter_active(MPI_Comm comm, cco_coll coll);
cco_comm *cco_enter_start_active(MPI_Comm comm);

/* A blocking call begins: the state of its communicator, set up if need be (collective), or NULL if
 * the call goes straight to the MPI. */
static inline cco_comm *cco_enter(MPI_Comm comm, cco_coll coll)
{
    if (cco_phase_now() == CCO_IDLE)
        return NULL;
    cco_comm *state = cco_comm_remembered(comm);
    const bool ours = state != NULL && state->ours >> coll & 1 && !cco_is_reentered();
    return ours ? state : cco_enter_active(comm, coll);
}

/* A blocking call without arrays that the communicator remembers; NULL: it has to begin as others
 * do.  This is all that comes before a small call that repeats, so it is inline; where something
 * comes before calls, nothing is remembered. */
#define CCO_FAST_PATH(comm, ...) cco_repeat_find(cco_comm_remembered(comm), __VA_ARGS__)

static inline const cco_repeat *cco_repeat_find(const cco_comm *state, cco_coll coll, int root,
                                                bool large, bool one, const void *sendbuf,
                                                const void *recvbuf, MPI_Count sendcount,
                                                MPI_Count recvcount, MPI_Datatype sendtype,
                                                MPI_Datatype recvtype, MPI_Op op)
{
    return state != NULL && !cco_is_reentered()
               ? cco_cached_call_rerun(state, coll, root, large, one, sendbuf, recvbuf, sendcount,
                                       recvcount, sendtype, recvtype, op)
               : NULL;
}

/* What other calls take is not a part of the entry. */
#define CCO_SLOW_PATH __attribute__((noinline))

/* A call that only starts a collective: never communicates.  NULL if there is nothing to record. */
static inline cco_comm *cco_enter_start(MPI_Comm comm)
{
    return cco_phase_now() == CCO_IDLE ? NULL : cco_enter_start_active(comm);
}

/* Runs a blocking call with the implementation chosen for it, and records it. */
int cco_dispatch(cco_comm *state, const cco_call *call);

#endif
