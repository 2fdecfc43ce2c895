/* SPDX-License-Identifier: BSD-3-Clause */
/* split.c - see split.h, and CRESTA_Coll_end, CRESTA_Coll_test, CRESTA_Progress. */
#include "process/set_up.h"
#include "split/split.h"

#include <time.h>

#include "api/dispatch.h"
#include "extensions/ours.h"
#include "split/operands.h"
#include "split/request_data.h"
#include "process/progress.h"
#include "api/recorded.h"
#include "api/report.h"
#include "split/streaming.h"
#include "base/clock.h"
#include "comm/failure.h"
#include "comm/facts.h"
#include "base/log.h"
#include "call/raise.h"
#include "wait/progress_thread.h"
#include "native/calls.h"
#include "observe/observe.h"
#include "plan/arguments.h"
#include "progress/begin.h"
#include "progress/copies.h"
#include "progress/operation_pool.h"
#include "progress/path.h"
#include "progress/queue.h"
#include "tune/topology.h"

/* The rule that a begin goes by; the state is ready. */
static cco_choice *split_choice(cco_comm *state, const cco_call *call)
{
    return cco_comm_needs_bytes(state, call->coll)
               ? cco_choose_by_call(state, call, cco_bytes(call, state->rank, state->size))
               : cco_choose(state, call->coll, 0);
}

/* What a begin comes to, the same on all ranks. */
typedef struct decision {
    cco_comm *state;
    cco_choice *choice; /* NULL where no rule is known yet, or none holds */
    cco_way way;        /* what runs where there is a path */
    cco_begin_path begin;
} decision;

/* What is wrong with the arguments the MPI's own call says, before anything of ours counts this
 * begin: the next one may be right. */
static decision split_decide(const cco_call *call)
{
    decision d = {.state = cco_comm_find(call->comm)};
    if (d.state == NULL && cco_phase_now() != CCO_IDLE)
        d.state = cco_comm_create(call->comm);
    if (d.state != NULL && (cco_observes() || !d.state->begins.ready) && !d.state->inter &&
        cco_arguments_valid(d.state, call)) {
        if (d.state->ready)
            CCO_OBSERVE(begun, (d.state, call));
        d.state->begins.count++;
    }
    if (d.state == NULL || !d.state->ready) {
        cco_fact_begins();
        return d;
    }
    d.choice = split_choice(d.state, call);
    d.way = d.choice->way;
    if (cco_has_paths(d.state, &d.way))
        d.begin = cco_path_of_begin(d.state, &d.way, call);
    cco_settle_ours(d.state, call, &d.begin, &d.way);
    if (cco_configured.log >= CCO_LOG_INFO)
        cco_report_begin(d.state, d.choice, &d.begin, call->coll);
    if (d.state->chosen.to_report >> call->coll & 1)
        cco_topology_warn(d.state, call->coll);
    if (d.begin.unprepared || (!d.state->begins.ready && cco_observe_may_begin()))
        cco_begins_want(d.state);
    return d;
}

/* False if CRESTA_FALLBACK=error forbids what would begin; rank 0 has said why. */
static bool split_allowed(const decision *d, const cco_call *call)
{
    if (cco_configured.fallback != CCO_FALLBACK_ERROR || d->choice == NULL)
        return true;
    const char *why = d->choice->refused != NULL ? d->choice->refused : d->begin.lacks;
    if (why != NULL)
        cco_report_forbidden_begin(d->state, d->choice, call->coll, why);
    return why == NULL;
}

/* All ranks refuse a begin, and none may wait for another; but the error handler of one may end the
 * job before rank 0 has said why. */
static int split_unsupported(const cco_comm *state, const cco_call *call)
{
    static bool waited;
    enum { MOMENT_NS = 100 * 1000 * 1000 };
    if (state != NULL && state->rank != 0 && !__atomic_exchange_n(&waited, true, __ATOMIC_RELAXED))
        nanosleep(&(struct timespec){.tv_nsec = MOMENT_NS}, NULL);
    return cco_raise_in(call->comm, call->coll, MPI_ERR_UNSUPPORTED_OPERATION);
}

/* Begins an operation of ours, which has the copies from now on. */
static int begin_ours(const decision *d, const cco_call *call, cco_copies *copies,
                      MPI_Request *request)
{
    const cco_ending ending = cco_observe_operation(d->state, d->choice, call);
    const int rc = cco_operation_begin(d->state, &d->way, call, d->begin.path, copies, ending,
                                       request);
    if (rc != MPI_SUCCESS && ending.run != NULL)
        ending.run(ending.data, rc);
    if (rc == MPI_SUCCESS) {
        cco_request_data_over(*request);
        cco_streaming_over(1, request);
        return rc;
    }
    if (rc == MPI_ERR_UNSUPPORTED_OPERATION)
        return split_unsupported(d->state, call);
    return cco_raise_in(call->comm, call->coll, rc);
}

/* Starts the MPI's own call, with what must be kept until its request ends: copies, if any; that
 * the progress thread polls because of a begin; that it stays out of the MPI. */
static int start_kept(const cco_call *call, cco_copies *copies, bool polled, bool holds,
                      MPI_Request *request)
{
    cco_request_data *pending = cco_request_data_make(copies);
    int rc = MPI_ERR_NO_MEM;
    if (pending != NULL)
        rc = cco_native_nonblocking(cco_natives_for(call), call, request);
    else
        cco_raise_in(call->comm, call->coll, rc);
    if (rc == MPI_SUCCESS) {
        cco_request_data_add(pending, polled, holds, *request);
        return rc;
    }
    cco_request_data_free(pending);
    if (pending == NULL)
        cco_copies_free(copies);
    if (holds)
        cco_progress_thread_hold(-1);
    return rc;
}

static int start_keeping(const cco_call *call, cco_copies *copies, bool begins,
                         MPI_Request *request)
{
    const bool holds = cco_request_data_hold(call);
    const bool polled = cco_progress_calls_mpi() && (begins || holds);
    return copies != NULL || polled || holds
               ? start_kept(call, copies, polled, holds, request)
               : cco_native_nonblocking(cco_natives_for(call), call, request);
}

static int start_persistent(const cco_natives *to, const cco_call *call, MPI_Info info,
                            MPI_Request *request)
{
    const bool holds = cco_request_data_hold(
        call); /* for good, since it may be started at any time */
    const int rc = cco_native_persistent(to, call, info, request);
    if (rc != MPI_SUCCESS && holds)
        cco_progress_thread_hold(-1);
    return rc;
}

/* Begins a call whose operation may be the program's, which the progress thread may not run. */
static int begin_holding(const decision *d, const cco_call *call, cco_copies *copies,
                         MPI_Request *request)
{
    if (!cco_request_data_hold(call))
        return begin_ours(d, call, copies, request);
    cco_request_data *pending = cco_request_data_make(NULL);
    if (pending == NULL)
        cco_fatal("no memory for a split-phase call on communicator '%s'", d->state->name);
    const int rc = begin_ours(d, call, copies, request);
    if (rc == MPI_SUCCESS) {
        cco_request_data_add(pending, false, true, *request);
        return rc;
    }
    cco_request_data_free(pending);
    cco_progress_thread_hold(-1);
    return rc;
}

/* What no MPI has, and the arguments are wrong: others may begin. */
static int begin_no_ours(const cco_call *call, int error, MPI_Request *request)
{
    const cco_comm *state = call->comm != MPI_COMM_NULL ? cco_comm_find(call->comm) : NULL;
    if (request != NULL)
        *request = MPI_REQUEST_NULL;
    if (state != NULL && cco_operation_pool_has(state, CCO_PATH_MESSAGES))
        cco_operation_pool_skip(cco_comm_find(call->comm), CCO_PATH_MESSAGES);
    return cco_raise_in(call->comm, call->coll, error);
}

/* There is no memory for copies. */
static void begin_nothing(const decision *d, const cco_call *call, int rc)
{
    if (d->begin.path != CCO_PATH_NONE) {
        cco_operation_pool_skip(d->state, d->begin.path);
        const cco_ending ending = cco_observe_operation(d->state, d->choice, call);
        if (ending.run != NULL) /* the other ranks have theirs */
            ending.run(ending.data, rc);
    }
    cco_raise_in(call->comm, call->coll, rc);
}

static int begin_mpis(cco_call *call, cco_copies *copies, MPI_Request *request)
{
    if (cco_operands_wanted(call))
        return cco_operands_start(call, copies, request);
    int rc = copies != NULL ? cco_copy_for_mpi(call, copies) : MPI_SUCCESS;
    if (rc != MPI_SUCCESS) {
        cco_copies_free(copies);
        return rc;
    }
    rc = start_keeping(call, copies, true, request);
    return cco_streaming(rc, call->coll, call->root, call->comm, request);
}

/* The non-blocking call of a preloaded program as an operation of ours, without copies: its arrays
 * stay until the end.  False if its rule does not ask for one; nothing has begun then. */
static bool start_progressed(const cco_call *call, MPI_Request *request, int *rc)
{
    const decision d = split_decide(call);
    const cco_path path = d.begin.path;
    if (path == CCO_PATH_NONE || cco_path_is_memory(path) || !d.state->facts.preloaded)
        return false;
    *rc = begin_ours(&d, call, NULL, request);
    return true;
}

static int split_refused(const cco_comm *state, const cco_call *call, MPI_Request *request)
{
    if (request != NULL)
        *request = MPI_REQUEST_NULL;
    return split_unsupported(state, call);
}

static void split_count(cco_comm *state, cco_mode mode, const cco_call *call, uint64_t start)
{
    if (state == NULL || !cco_profile_active)
        return;
    const MPI_Count bytes = state->inter ? 0 : cco_bytes(call, state->rank, state->size);
    cco_profile_count_native(state, mode, call->coll, bytes, start, cco_ticks());
}

static int start_marked(cco_comm *state, cco_mode mode, const cco_call *call, MPI_Info info,
                        MPI_Request *request)
{
    const bool below = state == &cco_comm_reentrant;
    const cco_natives *to = below ? &cco_native[CCO_CALLER_INTERNAL] : cco_natives_for(call);
    if (below)
        return mode == CCO_PERSISTENT ? cco_native_persistent(to, call, info, request)
                                      : cco_native_nonblocking(to, call, request);
    if (state != NULL && cco_observe_refuses(state, cco_coll_infos[call->coll].name))
        return split_refused(state, call, request);
    const bool exact = cco_operands_wanted(call);
    if (exact && !cco_operands_allowed(call, mode == CCO_PERSISTENT))
        return split_unsupported(state, call);
    CCO_OBSERVE(started, (state, call, mode == CCO_PERSISTENT));
    const uint64_t start = state != NULL ? cco_ticks() : 0;
    int rc;
    if (mode == CCO_PERSISTENT)
        rc = start_persistent(to, call, info, request);
    else if (!CCO_PRELOADED || !cco_progress_calls_mpi() || !start_progressed(call, request, &rc))
        rc = exact ? cco_operands_start(call, NULL, request)
                   : start_keeping(call, NULL, false, request);
    split_count(state, mode, call, start);
    return rc;
}

int cco_start(cco_comm *state, cco_mode mode, const cco_call *call, MPI_Info info,
              MPI_Request *request)
{
    const bool looks = cco_comm_threads && state != &cco_comm_reentrant &&
                       (cco_observes_starts() || (CCO_PRELOADED && cco_progress_calls_mpi()));
    cco_comm_mark mark;
    if (request != NULL && looks) /* for a program that goes on */
        *request = MPI_REQUEST_NULL;
    int rc = cco_comm_enter(&mark, looks ? state : NULL, call->coll);
    if (rc != MPI_SUCCESS)
        return rc;
    rc = start_marked(state, mode, call, info, request);
    cco_comm_leave(&mark);
    return rc;
}

static int begin_marked(const cco_call *call, MPI_Request *request)
{
    const cco_comm *known = cco_observes_starts() ? cco_comm_find(call->comm) : NULL;
    if (known != NULL && cco_observe_refuses(known, cco_coll_infos[call->coll].name))
        return split_refused(known, call, request);
    const int wrong = cco_is_ours(call->coll) ? cco_prepare_ours(call) : MPI_SUCCESS;
    if (wrong != MPI_SUCCESS)
        return begin_no_ours(call, wrong, request);
    const decision d = split_decide(call);
    if (!split_allowed(&d, call) ||
        (cco_operands_wanted(call) && !cco_operands_allowed(call, false))) {
        if (request != NULL)
            *request = MPI_REQUEST_NULL;
        return split_unsupported(d.state, call);
    }
    if (d.state != NULL && d.state->failure.error != MPI_SUCCESS && d.begin.path != CCO_PATH_NONE) {
        *request = MPI_REQUEST_NULL;
        return cco_comm_raise(d.state, call->coll, d.state->failure.error);
    }
    if (cco_progress_calls_mpi())
        cco_progress_start();
    cco_comm *state = cco_enter_start(call->comm);
    CCO_OBSERVE(started, (state, call, false));
    const uint64_t start = state != NULL ? cco_ticks() : 0;
    cco_call ours = *call;
    cco_copies *copies;
    int rc = cco_copy_arrays(&ours, &copies);
    if (rc != MPI_SUCCESS)
        begin_nothing(&d, call, rc);
    else
        rc = d.begin.path != CCO_PATH_NONE ? begin_holding(&d, &ours, copies, request)
                                           : begin_mpis(&ours, copies, request);
    if (rc != MPI_SUCCESS && request != NULL)
        *request = MPI_REQUEST_NULL;
    split_count(state, CCO_NONBLOCKING, call, start);
    return rc;
}

int cco_begin(const cco_call *call, MPI_Request *request)
{
    cco_comm_mark mark;
    cco_process_enter();
    cco_comm *state = cco_comm_threads ? cco_comm_find(call->comm) : NULL;
    if (state == NULL && cco_comm_threads && cco_phase_now() != CCO_IDLE)
        state = cco_comm_create(call->comm);
    if (request != NULL && state != NULL)
        *request = MPI_REQUEST_NULL;
    int rc = cco_comm_enter(&mark, state, call->coll);
    if (rc != MPI_SUCCESS)
        return rc;
    rc = begin_marked(call, request);
    cco_comm_leave(&mark);
    return rc;
}
