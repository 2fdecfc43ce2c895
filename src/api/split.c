/* SPDX-License-Identifier: BSD-3-Clause */
/* split.c - see split.h, and CRESTA_Coll_end, CRESTA_Coll_test, CRESTA_Progress. */
#include "api/split.h"

#include <time.h>

#include "api/copies.h"
#include "api/copies_types.h"
#include "api/dispatch.h"
#include "api/report.h"
#include "core/facts.h"
#include "core/next.h"
#include "core/pause.h"
#include "core/wait.h"
#include "native/calls.h"
#include "progress/begin.h"
#include "progress/path.h"
#include "plan/bound.h"
#include "progress/queue.h"
#include "progress/operation_pool.h"

/* gcc takes MPICH's MPI_STATUSES_IGNORE, the address 1, for an array. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#endif

static void tell(const cco_call *call)
{
    cco_comm *state = cco_configured.log >= CCO_LOG_INFO ? cco_comm_find(call->comm) : NULL;
    if (state != NULL && state->ready)
        cco_report_begin(state, call);
}

cco_choice *cco_split_choice(cco_comm *state, const cco_call *call)
{
    const bool sized = state->sized >> call->coll & 1;
    return cco_choose(state, call->coll, sized ? cco_bytes(call, state->rank, state->size) : 0);
}

/* What a call begins over, the same on all ranks; NULL in `*choice` where no rule is known yet, or
 * none holds.  What is wrong with the arguments the MPI's own call says, before anything of ours
 * counts this begin: the next one may be right. */
static cco_path path_of(const cco_call *call, cco_comm **state, cco_choice **choice)
{
    const char *why;
    *state = cco_comm_find(call->comm);
    *choice = NULL;
    if (*state == NULL || !(*state)->ready || (*state)->inter) {
        cco_fact_begins();
        return CCO_PATH_NONE;
    }
    *choice = cco_split_choice(*state, call);
    if (cco_path_needs_prepare(*state, &(*choice)->way, call))
        cco_begins_want(*state);
    const cco_path path = cco_path_of_begin(*state, &(*choice)->way, call, &why);
    return path != CCO_PATH_NONE && cco_bound_is_valid(*state, call) ? path : CCO_PATH_NONE;
}

/* False if CRESTA_FALLBACK=error forbids what would begin; rank 0 has said why. */
static bool allowed(const cco_comm *state, const cco_choice *choice, const cco_call *call)
{
    if (cco_configured.fallback != CCO_FALLBACK_ERROR || choice == NULL)
        return true;
    const char *why = choice->refused;
    if (why == NULL)
        why = cco_path_lacks(state, &choice->way, call);
    if (why != NULL)
        cco_report_forbidden_begin(state, choice, call->coll, why);
    return why == NULL;
}

/* All ranks refuse a begin, and none may wait for another; but the error handler of one may end the
 * job before rank 0 has said why. */
static int unsupported(const cco_comm *state, const cco_call *call)
{
    static bool waited;
    enum { MOMENT_NS = 100 * 1000 * 1000 };
    if (state->rank != 0 && !__atomic_exchange_n(&waited, true, __ATOMIC_RELAXED))
        nanosleep(&(struct timespec){.tv_nsec = MOMENT_NS}, NULL);
    PMPI_Comm_call_errhandler(call->comm, MPI_ERR_UNSUPPORTED_OPERATION);
    return MPI_ERR_UNSUPPORTED_OPERATION;
}

static int start_operation(cco_comm *state, const cco_way *way, const cco_call *call, cco_path path,
                        MPI_Request *request)
{
    const int rc = cco_operation_begin(state, way, call, path, request);
    if (rc == MPI_ERR_UNSUPPORTED_OPERATION)
        return unsupported(state, call);
    if (rc != MPI_SUCCESS)
        PMPI_Comm_call_errhandler(call->comm, rc);
    return rc;
}

/* The non-blocking call of a preloaded program as an operation of ours, without copies: its arrays
 * stay until the end.  False if its rule does not ask for one; nothing has begun then. */
static bool start_progressed(const cco_call *call, MPI_Request *request, int *rc)
{
    cco_choice *choice;
    cco_comm *ready;
    const cco_path path = path_of(call, &ready, &choice);
    tell(call);
    if (path != CCO_PATH_MESSAGES || !ready->facts.preloaded)
        return false;
    *rc = start_operation(ready, &choice->way, call, path, request);
    if (*rc == MPI_SUCCESS)
        cco_pending_add(NULL, CCO_PENDING_OURS, false, *request);
    return true;
}

int cco_start(cco_comm *state, cco_mode mode, const cco_call *call, MPI_Info info,
              MPI_Request *request)
{
    const bool below = state == &cco_from_below;
    const cco_natives *to = below ? &cco_native[CCO_BY_US] : cco_natives_for(call);
    if (below)
        return mode == CCO_PERSISTENT ? cco_native_persistent(to, call, info, request)
                                      : cco_native_nonblocking(to, call, request);
    const uint64_t start = cco_start_clock(state);
    const bool holds = cco_pending_hold(call); /* a persistent one for good */
    int rc;
    if (mode == CCO_PERSISTENT)
        rc = cco_native_persistent(to, call, info, request);
    else if (!CCO_PRELOADED || !cco_progress_calls_mpi() || !start_progressed(call, request, &rc))
        rc = cco_start_nonblocking(call, request);
    if (holds && rc == MPI_SUCCESS && mode == CCO_NONBLOCKING)
        cco_pending_add(NULL, CCO_PENDING_MPIS, true, *request);
    else if (holds && rc != MPI_SUCCESS)
        cco_progress_thread_hold(-1);
    cco_start_count(cco_recording ? state : NULL, mode, call, start);
    return rc;
}

int cco_begin(const cco_call *call, MPI_Request *request)
{
    cco_choice *choice;
    cco_comm *ready;
    if (cco_phase_now() == CCO_UNREAD)
        cco_process_begin_late();
    tell(call);
    const cco_path path = path_of(call, &ready, &choice);
    if (!allowed(ready, choice, call)) {
        if (request != NULL)
            *request = MPI_REQUEST_NULL;
        return unsupported(ready, call);
    }
    if (cco_progress_calls_mpi())
        cco_progress_start();
    cco_comm *state = cco_enter_start(call->comm);
    const uint64_t start = cco_start_clock(state);
    cco_call ours = *call;
    cco_pending *pending;
    int rc = cco_copy_arrays(&ours, &pending);
    if (rc == MPI_SUCCESS && path == CCO_PATH_NONE) {
        cco_copy_empty(&ours, pending);
        rc = cco_copy_types(&ours, pending);
    }
    const bool holds = rc == MPI_SUCCESS && path == CCO_PATH_NONE && cco_pending_hold(&ours);
    if (rc == MPI_SUCCESS)
        rc = path != CCO_PATH_NONE ? start_operation(ready, &choice->way, &ours, path, request)
                                   : cco_start_nonblocking(&ours, request);
    if (rc == MPI_SUCCESS)
        cco_pending_add(pending, path != CCO_PATH_NONE ? CCO_PENDING_OURS : CCO_PENDING_MPIS, holds,
                        *request);
    else
        cco_pending_free(pending);
    if (rc != MPI_SUCCESS && holds)
        cco_progress_thread_hold(-1);
    if (rc != MPI_SUCCESS && request != NULL)
        *request = MPI_REQUEST_NULL;
    cco_start_count(cco_recording ? state : NULL, CCO_NONBLOCKING, call, start);
    return rc;
}

bool cco_progress_turn(int *tries)
{
    if (*tries == CCO_PROGRESS_FIRST_TURN)
        *tries = 0;
    else
        cco_pause(tries);
    cco_progress_thread_spare();
    if (!cco_queue_any())
        return false;
    if (cco_queue_progress(true))
        *tries = 0;
    return true;
}

bool cco_all_complete(int count, const MPI_Request requests[], int *at)
{
    int over = 1;
    while (over && requests != NULL && *at < count) {
        const MPI_Request request = requests[*at];
        cco_operation_only_test(request);
        if (request != MPI_REQUEST_NULL &&
            PMPI_Request_get_status(request, &over, MPI_STATUS_IGNORE) != MPI_SUCCESS)
            over = 1; /* its end says what is wrong */
        *at += over;
    }
    cco_operation_only_test(MPI_REQUEST_NULL);
    return over;
}

/* A tool has seen the MPI's own calls that began, and gets to see their end.  (A tool before us
 * sees no call of ours; so it is the first one in the process.) */
static int wait_all(int count, MPI_Request requests[])
{
    static cco_function found;
    const __typeof__(&PMPI_Waitall) tool = (__typeof__(&PMPI_Waitall))cco_first("MPI_Waitall",
                                                                                &found);
    return tool != NULL ? tool(count, requests, MPI_STATUSES_IGNORE)
                        : PMPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
}

/* All are over: the MPI has nothing to wait for, and tells errors. */
static int end_all(int count, MPI_Request requests[])
{
    cco_notes notes;
    cco_pending_note(&notes, cco_pending_any() ? count : 0, requests);
    const int rc = wait_all(count, requests);
    cco_pending_settle(&notes, requests);
    return rc;
}

int CRESTA_Coll_end(int count, MPI_Request requests[])
{
    int tries = CCO_PROGRESS_FIRST_TURN, at = 0;
    do
        cco_progress_turn(&tries);
    while (!cco_all_complete(count, requests, &at));
    return end_all(count, requests);
}

int CRESTA_Coll_test(int count, MPI_Request requests[], int *flag)
{
    int at = 0;
    cco_queue_progress(true);
    *flag = cco_all_complete(count, requests, &at);
    return *flag ? end_all(count, requests) : MPI_SUCCESS;
}

int CRESTA_Progress(void)
{
    cco_queue_progress(true);
    return cco_mpi_progress_all();
}
