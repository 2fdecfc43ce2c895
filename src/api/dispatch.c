/* SPDX-License-Identifier: BSD-3-Clause */
/* dispatch.c - see dispatch.h. */
#include "process/set_up.h"
#include "api/dispatch.h"

#include "process/progress.h"
#include "api/recorded.h"
#include "api/report.h"
#include "base/clock.h"
#include "config/config.h"
#include "comm/failure.h"
#include "call/raise.h"
#include "mpi/mpi_compat.h"
#include "native/calls.h"
#include "observe/observe.h"
#include "plan/arguments.h"

cco_comm cco_comm_reentrant = {.inter = true};
cco_comm cco_comm_any_thread = {.inter = true};

/* The rest of cco_enter_active, where no other thread is in a call; the state may be NULL. */
static cco_comm *enter_alone(cco_comm *state, MPI_Comm comm, cco_coll coll)
{
    if (state == NULL || !state->ready) {
        if (cco_process_ignores(comm, cco_is_neighbor(coll)))
            return NULL;
        CCO_OBSERVE(comm_met, (comm, coll));
        state = cco_prepare(comm);
        if (state == NULL) { /* an intercommunicator: straight to the MPI, but counted */
            cco_comm *inter = cco_profile_active || cco_observes() ? cco_comm_find(comm) : NULL;
            return inter != NULL && inter->inter ? inter : NULL;
        }
    }
    return cco_comm_looks_at(state, coll) ? state : NULL;
}

cco_comm *cco_enter_active(MPI_Comm comm, cco_coll coll)
{
    if (cco_is_reentered())
        return &cco_comm_reentrant;
    if (cco_phase_now() == CCO_NEARBY && !cco_is_neighbor(coll))
        return NULL;
    cco_process_enter();
    return cco_comm_threads ? &cco_comm_any_thread : enter_alone(cco_comm_find(comm), comm, coll);
}

cco_comm *cco_enter_start_active(MPI_Comm comm)
{
    if (cco_is_reentered())
        return &cco_comm_reentrant;
    if (cco_phase_now() == CCO_UNREAD)
        cco_natives_look_up();
    if (!(cco_profile_active || cco_configured.reproducible || cco_observes_starts() ||
          cco_progress_follows_starts()))
        return NULL;
    cco_comm *state = cco_comm_find(comm);
    return state != NULL ? state : cco_comm_create(comm);
}

/* With the mark of its communicator, if that has a state, which all of this thread's calls find. */
static int run_marked(const cco_call *call)
{
    const bool ours = cco_is_ours(call->coll);
    cco_comm_mark mark;
    cco_comm *state = cco_comm_find(call->comm);
    if (state == NULL && (ours || !cco_process_ignores(call->comm, cco_is_neighbor(call->coll))))
        state = cco_comm_create(call->comm);
    int rc = cco_comm_enter(&mark, state, call->coll);
    if (rc != MPI_SUCCESS)
        return rc;
    cco_comm *own = state == NULL ? NULL
                    : ours        ? cco_prepare(call->comm)
                                  : enter_alone(state, call->comm, call->coll);
    rc = own != NULL ? cco_dispatch(own, call) : MPI_SUCCESS;
    cco_comm_leave(&mark);
    return own != NULL ? rc : cco_native_blocking(cco_natives_for(call), call);
}

/* On an intercommunicator: the MPI's own call.  Its bytes are not counted: ranks have different
 * roles. */
static int run_inter(cco_comm *state, const cco_call *call)
{
    if (state == &cco_comm_reentrant)
        return cco_native_blocking(&cco_native[CCO_CALLER_INTERNAL], call);
    if (state == &cco_comm_any_thread)
        return run_marked(call);
    cco_observed observed;
    cco_observe_before(&observed, state, call);
    const uint64_t start = cco_ticks();
    const int rc = cco_native_blocking(cco_natives_for(call), call);
    const uint64_t end = cco_ticks();
    cco_observe_after(&observed, state, call, rc);
    if (!cco_profile_active)
        return rc;
    cco_profile_count_native(state, CCO_BLOCKING, call->coll, 0, start, end);
    return rc;
}

/* What has to be done or said before a call.  False on all ranks if it must not run. */
static bool come_first(cco_comm *state, const cco_call *call)
{
    if (state->begins.wanted)
        cco_begins_prepare(state);
    return cco_report_call(state, call);
}

static int run_choice(cco_comm *state, cco_choice *choice, const cco_call *call, MPI_Count bytes)
{
    const cco_model *model = choice->way.model;
    if (state->failure.error != MPI_SUCCESS && model->below != NULL) /* not `mpi` */
        return cco_comm_raise(state, call->coll, state->failure.error);
    if (model->other_names && !cco_handed_is_right(state, &choice->way, call))
        return cco_arguments_refuse(call);
    return !cco_profiled ? model->run(state, &choice->way, call)
                         : cco_run_recorded(state, choice, call, bytes);
}

static int run_observed(cco_comm *state, const cco_call *call, cco_observed *observed)
{
    const MPI_Count bytes = cco_bytes(call, state->rank, state->size);
    cco_choice *choice = cco_choose_by_call(state, call, bytes);
    cco_observe_chosen(observed, state, choice, call, bytes);
    return run_choice(state, choice, call, bytes);
}

/* A call that something else comes before or after, or whose classes matter. */
static int run_slow(cco_comm *state, const cco_call *call)
{
    cco_observed observed;
    cco_observe_before(&observed, state, call);
    const bool allowed = come_first(state, call);
    const int rc = allowed ? run_observed(state, call, &observed)
                           : cco_comm_refuse(state, MPI_ERR_UNSUPPORTED_OPERATION);
    cco_observe_after(&observed, state, call, rc);
    if (!allowed)
        cco_raise_in(state->comm, call->coll, rc);
    return rc;
}

/* With the implementation that the rules choose. */
static int run_chosen(cco_comm *state, const cco_call *call)
{
    const cco_coll coll = call->coll;
    if (state->slow >> coll & 1)
        return run_slow(state, call);
    const bool sized = cco_comm_needs_bytes(state, coll);
    const MPI_Count bytes = sized ? cco_bytes(call, state->rank, state->size) : 0;
    return run_choice(state, cco_choose(state, coll, bytes), call, bytes);
}

/* Not a part of cco_dispatch, which is to save no registers; nor is the next. */
__attribute__((noinline)) static int run_anew(cco_comm *state, const cco_call *call)
{
    return state->inter ? run_inter(state, call) : run_chosen(state, call);
}

__attribute__((noinline)) static int repeat_arrays(cco_comm *state, const cco_repeat *repeat,
                                                   const cco_call *call)
{
    return cco_cached_call_has_arrays(repeat->cached, call)
               ? repeat->run(repeat, call->sendbuf, call->recvbuf, call)
               : run_anew(state, call);
}

/* What the same arguments came to holds as long as the choices do (cco_comm_update). */
int cco_dispatch(cco_comm *state, const cco_call *call)
{
    const cco_repeat *repeat = &state->repeats[cco_cached_call_index(call)];
    if (repeat->cached == NULL || !cco_cached_call_is_like(repeat->cached, call))
        return run_anew(state, call);
    if (repeat->cached->kept != 0)
        return repeat_arrays(state, repeat, call);
    return repeat->run(repeat, call->sendbuf, call->recvbuf, call);
}
