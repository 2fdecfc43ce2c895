/* SPDX-License-Identifier: BSD-3-Clause */
/* split.c - see split.h, and CRESTA_Coll_end, CRESTA_Coll_test, CRESTA_Progress. */
#include "api/split.h"

#include "api/dispatch.h"
#include "api/tell.h"
#include "core/pause.h"
#include "core/wait.h"
#include "model/flight.h"

/* gcc takes MPICH's MPI_STATUSES_IGNORE, the address 1, for an array. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#endif

static void tell(const cco_call *call)
{
    cco_comm *state = cco_configured.log >= CCO_LOG_INFO ? cco_comm_find(call->comm) : NULL;
    if (state != NULL && state->ready)
        cco_tell_split(state, call);
}

cco_choice *cco_split_choice(cco_comm *state, const cco_call *call)
{
    const bool sized = state->sized >> call->coll & 1;
    return cco_choose(state, call->coll, sized ? cco_bytes(call, state->rank, state->size) : 0);
}

/* The state of a communicator where the call runs as a schedule of ours; NULL where it is the
 * MPI's.  The same on all ranks. */
static cco_comm *flying(const cco_call *call)
{
    cco_comm *state = cco_async() ? cco_comm_find(call->comm) : NULL;
    if (state == NULL || !state->ready || state->inter)
        return NULL;
    return cco_flight_takes(state, &cco_split_choice(state, call)->way, call) ? state : NULL;
}

static int start_flight(cco_comm *state, const cco_call *call, MPI_Request *request)
{
    const int rc = cco_flight_begin(state, &cco_split_choice(state, call)->way, call, request);
    if (rc != MPI_SUCCESS)
        PMPI_Comm_call_errhandler(call->comm, rc);
    return rc;
}

int cco_begin(const cco_call *call, MPI_Request *request)
{
    if (cco_phase_now() == CCO_UNREAD)
        cco_process_begin_late();
    tell(call);
    cco_async_start();
    cco_comm *flies = flying(call), *state = cco_enter_start(call->comm);
    const uint64_t start = cco_start_clock(state);
    cco_call ours = *call;
    cco_kept *kept;
    int rc = cco_keep(&ours, &kept);
    if (rc == MPI_SUCCESS)
        rc = flies != NULL ? start_flight(flies, &ours, request)
                           : cco_start_nonblocking(&ours, request);
    if (rc == MPI_SUCCESS)
        cco_kept_add(kept, flies != NULL ? CCO_KEPT_OURS : CCO_KEPT_MPIS, *request);
    else
        cco_kept_free(kept);
    if (rc != MPI_SUCCESS && request != NULL)
        *request = MPI_REQUEST_NULL;
    cco_start_count(state, CCO_NONBLOCKING, call, start);
    return rc;
}

/* The program ends all or any of these, whatever way.  They move on while nothing else moves them;
 * the MPI would only look at its own, until the helper gets a core. */
void cco_attend(int count, const MPI_Request requests[], bool all)
{
    for (int tries = 0; count > 0 && cco_flights_any(); cco_pause(&tries)) {
        int ended = 0;
        if (cco_flights_move())
            tries = 0;
        for (int i = 0; i < count; i++) {
            int done = 0;
            const int rc = PMPI_Request_get_status(requests[i], &done, MPI_STATUS_IGNORE);
            ended += done || rc != MPI_SUCCESS; /* the MPI will tell */
        }
        if (all ? ended == count : ended > 0)
            return;
    }
}

/* Tests until all are complete, or one has failed. */
static int wait_politely(int count, MPI_Request requests[])
{
    for (int tries = 0;; cco_pause(&tries)) {
        int done = 0;
        if (cco_flights_move())
            tries = 0;
        const int rc = PMPI_Testall(count, requests, &done, MPI_STATUSES_IGNORE);
        if (rc != MPI_SUCCESS || done)
            return rc;
    }
}

int CRESTA_Coll_end(int count, MPI_Request requests[])
{
    cco_kept *kept = cco_kept_any() ? cco_kept_take(count, requests) : NULL;
    const int rc = wait_politely(count, requests);
    if (kept != NULL)
        cco_kept_settle(kept, requests);
    return rc;
}

int CRESTA_Coll_test(int count, MPI_Request requests[], int *flag)
{
    cco_kept *kept = cco_kept_any() ? cco_kept_take(count, requests) : NULL;
    cco_flights_move();
    const int rc = PMPI_Testall(count, requests, flag, MPI_STATUSES_IGNORE);
    if (kept != NULL)
        cco_kept_settle(kept, requests);
    return rc;
}

int CRESTA_Progress(void)
{
    cco_flights_move();
    return cco_move();
}
