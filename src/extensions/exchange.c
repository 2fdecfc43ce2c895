/* SPDX-License-Identifier: BSD-3-Clause */
/* exchange.c - CRESTA_Exchange, CRESTA_Exchange_begin, CRESTA_Exchange_take: sparse data exchange
 * where receivers do not know their senders (progress/exchange.h). */
#include <limits.h>
#include <stdlib.h>

#include "process/set_up.h"
#include "api/dispatch.h"
#include "extensions/exchange.h"
#include "extensions/multisend_lists.h"
#include "split/request_data.h"
#include "process/progress.h"
#include "split/streaming.h"
#include "call/data.h"
#include "comm/failure.h"
#include "cresta_multisend.h"
#include "progress/exchanges.h"
#include "observe/observe.h"

/* The class of what is wrong with the arguments on this rank. */
static int api_exchange_wrong(const cco_comm *state, const cco_exchange_sends *s)
{
    if (s->count < 0)
        return MPI_ERR_COUNT;
    if (!cco_is_type(s->type))
        return MPI_ERR_TYPE;
    for (int i = 0; i < s->count; i++) {
        const int to = s->destinations[i];
        if (to != MPI_PROC_NULL && (to < 0 || to >= state->size))
            return MPI_ERR_RANK;
        if (s->counts[i] < 0)
            return MPI_ERR_COUNT;
    }
    return MPI_SUCCESS;
}

/* Why this rank takes part in no more exchanges, which its communicator learns as well. */
static int api_exchange_failed(cco_comm *state, const cco_exchanges *exchanges)
{
    int lost;
    const int error = cco_exchanges_error(exchanges, &lost);
    if (error != MPI_SUCCESS)
        cco_comm_fail(state, error, lost);
    return error;
}

/* The next exchange of a communicator, with what this rank sends; a rank whose arguments are wrong
 * takes part without messages, and says so at the end.  NULL if none begins, on all ranks but for a
 * process that has failed; then the error handler knows why. */
static cco_exchange_call *api_exchange_next(const char *caller, const cco_exchange_sends *sends,
                                            int *sources, int *elements, MPI_Comm comm, int *rc)
{
    MPI_Aint low;
    cco_process_enter();
    cco_comm *state = comm != MPI_COMM_NULL ? cco_prepare(comm) : NULL; /* of intracommunicators */
    if (state == NULL) {
        *rc = cco_lists_refuse(comm, MPI_ERR_COMM);
        return NULL;
    }
    if (cco_observe_refuses(state, caller)) {
        *rc = cco_lists_refuse(comm, MPI_ERR_UNSUPPORTED_OPERATION);
        return NULL;
    }
    cco_exchanges *exchanges = state->failure.error == MPI_SUCCESS ? cco_exchanges_of(state) : NULL;
    if (exchanges == NULL)
        cco_comm_has_failed(state);
    const int error = exchanges != NULL ? api_exchange_failed(state, exchanges)
                                        : state->failure.error;
    if (error != MPI_SUCCESS || exchanges == NULL) {
        *rc = error != MPI_SUCCESS ? cco_comm_raise_in(state, caller, error)
                                   : cco_lists_refuse(comm, MPI_ERR_OTHER);
        return NULL;
    }
    cco_exchange_call *call = cco_exchanges_next(exchanges);
    call->sends = *sends;
    call->sources = sources;
    call->elements = elements;
    call->error = api_exchange_wrong(state, sends);
    if (call->error == MPI_SUCCESS)
        call->error = PMPI_Type_get_extent(sends->type, &low, &call->sends.extent);
    call->element = (size_t)cco_type_size(sends->type);
    if (call->error != MPI_SUCCESS)
        call->sends.count = 0;
    return call;
}

int cco_exchange_now(const cco_exchange_sends *sends, void *copied, int *sources, int *elements,
                     MPI_Comm comm)
{
    int rc;
    cco_exchange_call *call = api_exchange_next("CRESTA_Exchange", sends, sources, elements, comm,
                                                &rc);
    if (call == NULL) {
        free(copied);
        return rc;
    }
    call->copied = copied;
    cco_exchanges *exchanges = call->of;
    rc = cco_exchange_wait(call);
    if (rc == MPI_SUCCESS)
        return rc;
    cco_comm *state = cco_comm_find(comm);
    return api_exchange_failed(state, exchanges) != MPI_SUCCESS
               ? cco_comm_raise_in(state, "CRESTA_Exchange", rc)
               : cco_lists_refuse(comm, rc);
}

int CRESTA_Exchange(const void *sendbuf, const int sendcounts[], const int sdispls[],
                    MPI_Datatype type, int ndestinations, const int destinations[], int *sources,
                    int *elements, MPI_Comm comm)
{
    const cco_exchange_sends sends = {sendbuf,       sendcounts, sdispls, destinations,
                                      ndestinations, type,       0};
    return cco_exchange_now(&sends, NULL, sources, elements, comm);
}

int cco_exchange_begin(const cco_exchange_sends *sends, void *copied, int *sources, int *elements,
                       MPI_Comm comm, MPI_Request *request)
{
    int rc;
    *request = MPI_REQUEST_NULL;
    cco_exchange_call *call = api_exchange_next("CRESTA_Exchange_begin", sends, sources, elements,
                                                comm, &rc);
    if (call == NULL) {
        free(copied);
        return rc;
    }
    call->copied = copied;
    if (cco_progress_calls_mpi())
        cco_progress_start();
    cco_exchange_start(call, request);
    cco_request_data_over(*request);
    cco_streaming_over(1, request);
    return MPI_SUCCESS;
}

int CRESTA_Exchange_begin(const void *sendbuf, const int sendcounts[], const int sdispls[],
                          MPI_Datatype type, int ndestinations, const int destinations[],
                          int *sources, int *elements, MPI_Comm comm, MPI_Request *request)
{
    const cco_exchange_sends sends = {sendbuf,       sendcounts, sdispls, destinations,
                                      ndestinations, type,       0};
    return cco_exchange_begin(&sends, NULL, sources, elements, comm, request);
}

/* Counts the elements of each message; MPI_ERR_COUNT if they are more than an int in all. */
static int count_each(const cco_exchange *x, MPI_Datatype type, int counts[], int places[])
{
    const size_t size = (size_t)cco_type_size(type);
    int next = 0;
    for (int i = 0; i < x->came; i++) {
        const size_t n = size > 0 ? x->list[i].n / size : 0;
        if (n * size != x->list[i].n)
            return MPI_ERR_OTHER;
        if (n > (size_t)(INT_MAX - next))
            return MPI_ERR_COUNT;
        counts[i] = (int)n;
        places[i] = next;
        next += counts[i];
    }
    return MPI_SUCCESS;
}

int cresta_exchange_take_of(const int *which, void *recvbuf, int sources[], int recvcounts[],
                            int rdispls[], MPI_Datatype type, MPI_Comm comm)
{
    cco_comm *state = comm != MPI_COMM_NULL ? cco_comm_find(comm) : NULL;
    cco_exchange_call *call = state != NULL ? cco_exchanges_ended(state, which) : NULL;
    MPI_Aint low, extent = 0;
    if (call == NULL)
        return cco_lists_refuse(comm, MPI_ERR_OTHER);
    const cco_exchange *x = &call->x;
    int rc = cco_is_type(type) ? PMPI_Type_get_extent(type, &low, &extent) : MPI_ERR_TYPE;
    if (rc == MPI_SUCCESS)
        rc = count_each(x, type, recvcounts, rdispls);
    for (int i = 0; i < x->came && rc == MPI_SUCCESS; i++) {
        sources[i] = x->list[i].source;
        rc = cco_type_unpack((char *)recvbuf + rdispls[i] * extent, (size_t)recvcounts[i], type,
                             x->data + x->list[i].at);
    }
    if (rc != MPI_SUCCESS)
        return cco_lists_refuse(comm, rc);
    cco_exchange_drop(call);
    return MPI_SUCCESS;
}

int CRESTA_Exchange_take(void *recvbuf, int sources[], int recvcounts[], int rdispls[],
                         MPI_Datatype type, MPI_Comm comm)
{
    return cresta_exchange_take_of(NULL, recvbuf, sources, recvcounts, rdispls, type, comm);
}
