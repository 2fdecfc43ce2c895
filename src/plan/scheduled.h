/* SPDX-License-Identifier: BSD-3-Clause */
/* scheduled.h - what the models that run schedules share: from a call to a plan, run and done. */
#ifndef CCO_SCHEDULED_H
#define CCO_SCHEDULED_H

#include "algo/algo.h"
#include "comm/comm.h"
#include "comm/failure.h"
#include "call/unlike.h"
#include "plan/call_cache.h"
#include "sched/engine_run.h"
#include "transport/hook/hook.h"

/* What such a model keeps about a communicator. */
typedef struct cco_scheduled {
    cco_plans plans;
    cco_workspace workspace;
    cco_cached_call cached[CCO_CACHED_CALLS];
    cco_repeat_run repeat; /* cco_scheduled_repeat or the like; NULL: something of the model's own
                              comes before or after calls */
    size_t *counts;        /* cco_problem.counts, for algorithms that ask for them, */
    size_t counts_room;    /* and for how many there is room */
    bool cut;              /* the root has a smaller block of this rank than the call has */
    bool pieces;           /* messages to other nodes go in pieces (cco_problem) */
    cco_hook hook;         /* CRESTA_DEBUG */
    cco_unlike *unlike;    /* of the transport; NULL: its messages do not say what they are of */
    cco_internode_traffic
        *between; /* where to count what calls send to other nodes; NULL: nobody asks */
} cco_scheduled;

/* Whether a call ran before: then its arguments are right. */
static inline bool cco_scheduled_knows(const cco_scheduled *own, const cco_way *way,
                                       const cco_call *call)
{
    const cco_cached_call *cached = &own->cached[cco_cached_call_index(call)];
    return cco_cached_call_matches(cached, own->plans.drops, way, call);
}

/* Runs a call, described by a bound call, as `way` says, or with `way->algo` replaced by the
 * model's choice for the problem.  Returns MPI_SUCCESS or an MPI error class. */
int cco_scheduled_run(cco_scheduled *own, cco_comm *state, const cco_way *way,
                      const cco_call *call);

/* The end of a call with an error, before the program's handler may take over: if the ranks made
 * unlike calls, says so, and the communicator is of no use from now on.  Returns the error. */
int cco_scheduled_fail(cco_scheduled *own, cco_comm *state, int error);

/* cco_scheduled_fail that also calls the program's error handler. */
int cco_scheduled_raise(cco_scheduled *own, cco_comm *state, cco_coll coll, int error);

/* Runs a call that the communicator remembers (comm/comm.h). */
int cco_scheduled_repeat(const cco_repeat *again, const void *sendbuf, void *recvbuf,
                         const cco_call *call);

/* False if its plan has been dropped, or other calls have let its scratch go. */
static inline bool cco_scheduled_holds(const cco_scheduled *own, const cco_cached_call *cached)
{
    return cached->drops == own->plans.drops &&
           cached->plan->scratch <= own->workspace.room[CCO_TMP];
}

/* Runs it again for a caller that has found that it holds, and has counted the call.  No profile is
 * made where calls are remembered, so none of its messages are counted. */
static inline int cco_scheduled_rerun(const cco_repeat *again, const void *sendbuf, void *recvbuf)
{
    cco_scheduled *own = again->own;
    cco_comm *state = again->state;
    cco_cached_call *cached = again->cached;
    char **base = cached->binding.base;
    base[CCO_IN] = (char *)(uintptr_t)sendbuf;
    base[CCO_OUT] = recvbuf;
    base[CCO_TMP] = own->workspace.memory[CCO_TMP];
    const int rc = cco_engine_run(cached->plan->engine, &cached->binding);
    return rc == MPI_SUCCESS ? rc : cco_scheduled_raise(own, state, cached->call.coll, rc);
}

/* The steps of that, for callers that do not wait in between.  The algorithm for a problem, which
 * gets its parameters: the preset one where the one asked for cannot do it, with a word about it as
 * CRESTA_FALLBACK says.  MPI_ERR_UNSUPPORTED_OPERATION, on all ranks, if that forbids it. */
int cco_scheduled_settle(const cco_comm *state, const cco_way *way, cco_problem *q,
                         const cco_algo **algo);

/* Gives a plan its scratch, for elements whose data begin at `low`; false when memory runs out. */
bool cco_scheduled_bind(cco_scheduled *own, const cco_plan *plan, cco_binding *binding,
                        ptrdiff_t low);

/* A call with this error, or none, goes no further on this rank, before its schedule started: what
 * the others may send for it is given up (sched/transport.h), unless all ranks have the error.
 * Returns it. */
int cco_scheduled_give_up(const cco_scheduled *own, int error);

/* The sizes that ranks have to get (cco_algo_shares): the plan, bound, that brings them to
 * `own->counts`: a broadcast of what the root knows, or a gather to the leaders of nodes.  Returns
 * MPI_SUCCESS or an MPI error class. */
int cco_scheduled_share(cco_scheduled *own, const cco_problem *q, cco_binding *binding,
                        cco_plan **plan);

/* Why no schedule can do a collective so on `size` processes; for cco_model.refuses. */
const char *cco_scheduled_refuses(const cco_way *way, cco_coll coll, int size);

/* Frees what it holds. */
void cco_scheduled_empty(cco_scheduled *own);

#endif
