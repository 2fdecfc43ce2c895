/* SPDX-License-Identifier: BSD-3-Clause */
/* exchange.c - CRESTA_Exchange, CRESTA_Exchange_take: sparse data exchange where receivers do not
 * know their senders.
 *
 * Algorithm NBX (T. Hoefler, C. Siebert, A. Lumsdaine, PPoPP 2010): synchronous sends, which end
 * when they are received; then a barrier, during which a rank still receives.  When it is over, all
 * that was sent has been received.  The barrier is ours, on the second tag of the exchange: those
 * of the MPI would be a collective of the program's communicator in between, and Open MPI's hang
 * after 2^24 of them. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "api/set_up.h"
#include "api/dispatch.h"
#include "api/report.h"
#include "core/awaited.h"
#include "core/data.h"
#include "core/failure.h"
#include "core/log.h"
#include "core/pause.h"
#include "core/ulfm.h"
#include "cresta_multisend.h"
#include "progress/queue.h"
#include "record/recorder.h"

/* gcc takes MPICH's MPI_STATUSES_IGNORE, the address 1, for an array. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#endif

enum { KEPT = 64 << 10 }; /* bytes of memory that stay for the next exchange */

/* A message that has come. */
typedef struct came {
    int source, turn; /* turn: in the order of coming */
    size_t at, n;     /* its bytes */
} came;

/* What a communicator keeps until it is taken. */
typedef struct kept {
    came *list;
    int count, room;
    char *data;
    size_t bytes, data_room;
    bool there;
} kept;

typedef struct exchange {
    kept *kept;
    MPI_Comm comm; /* of ours */
    int tag, rank, size;
    MPI_Request *sends;
    int *to;      /* their receivers */
    int count;    /* of sends */
    bool sent;    /* all have been received */
    int distance; /* of the open round of the barrier; at least `size`: it is over */
    MPI_Request barrier[2];
    int partners[2]; /* in it */
    cco_channel *channel;
    cco_watch *watch;
    cco_awaited awaited;
} exchange;

static const char kept_key; /* its address is the key */

static void release(void *data)
{
    kept *k = data;
    free(k->list);
    free(k->data);
    free(k);
}

static kept *kept_of(cco_comm *state)
{
    kept *k = cco_comm_attached(state, &kept_key);
    return k != NULL ? k : cco_comm_attach(state, &kept_key, sizeof *k, release);
}

static void *grown(void *memory, size_t bytes)
{
    void *more = realloc(memory, bytes > 0 ? bytes : 1);
    if (more == NULL) /* others wait for what this rank receives */
        cco_fatal("CRESTA_Exchange: no memory for %zu bytes", bytes);
    return more;
}

static char *room_for(kept *k, int source, size_t n)
{
    if (k->count == k->room) {
        k->room = 2 * k->room + 8;
        k->list = grown(k->list, (size_t)k->room * sizeof *k->list);
    }
    if (k->data_room - k->bytes < n) {
        k->data_room = 2 * k->data_room + n;
        k->data = grown(k->data, k->data_room);
    }
    k->list[k->count] = (came){source, k->count, k->bytes, n};
    k->count++;
    k->bytes += n;
    return k->data + k->bytes - n;
}

static int receive(exchange *x, MPI_Message message, const MPI_Status *status)
{
    MPI_Count n = 0;
    MPI_Request request;
    MPI_Datatype wide = MPI_BYTE;
    int rc = PMPI_Get_elements_x(status, MPI_BYTE, &n);
    char *to = room_for(x->kept, status->MPI_SOURCE, (size_t)n);
    if (rc == MPI_SUCCESS && n > INT_MAX)
        rc = cco_wide_type((size_t)n, MPI_BYTE, INT_MAX, &wide);
    if (rc == MPI_SUCCESS)
        rc = PMPI_Imrecv(to, n > INT_MAX ? 1 : (int)n, wide, &message, &request);
    if (rc == MPI_SUCCESS)
        rc = cco_awaited_end(x->watch, x->channel, &request, status->MPI_SOURCE);
    if (wide != MPI_BYTE)
        PMPI_Type_free(&wide);
    return rc;
}

/* Receives a message, if there is one. */
static int look(exchange *x, bool *moved)
{
    MPI_Message message;
    MPI_Status status;
    int there = 0;
    const int rc = PMPI_Improbe(MPI_ANY_SOURCE, x->tag, x->comm, &there, &message, &status);
    *moved = *moved || there;
    return rc == MPI_SUCCESS && there ? receive(x, message, &status) : rc;
}

/* Opens a round of the barrier (dissemination): of D. Hensgen, R. Finkel, U. Manber, 1988. */
static int open_round(exchange *x)
{
    const int to = (x->rank + x->distance) % x->size;
    const int from = (x->rank - x->distance + x->size) % x->size;
    if (x->distance >= x->size)
        return MPI_SUCCESS;
    x->partners[0] = from;
    x->partners[1] = to;
    int rc = PMPI_Irecv(NULL, 0, MPI_BYTE, from, x->tag + 1, x->comm, &x->barrier[0]);
    if (rc == MPI_SUCCESS)
        rc = PMPI_Isend(NULL, 0, MPI_BYTE, to, x->tag + 1, x->comm, &x->barrier[1]);
    return rc;
}

/* Goes on with the sends, and then with the barrier. */
static int go_on(exchange *x, bool *moved)
{
    int over = 0;
    const int n = x->sent ? 2 : x->count;
    MPI_Request *requests = x->sent ? x->barrier : x->sends;
    int rc = PMPI_Testall(n, requests, &over, MPI_STATUSES_IGNORE);
    if (rc != MPI_SUCCESS || !over)
        return cco_awaited_cause(x->channel, rc);
    *moved = true;
    x->awaited = (cco_awaited){0};
    x->distance = x->sent ? 2 * x->distance : 1;
    x->sent = true;
    return open_round(x);
}

/* Whether a rank that this one sends to, or that it waits for in the barrier, has failed.  Every
 * rank waits for all others in the end: who finds out tells them. */
static int lost(exchange *x)
{
    return x->sent ? cco_awaited_lost(&x->awaited, x->watch, x->channel, 2, x->barrier, x->partners)
                   : cco_awaited_lost(&x->awaited, x->watch, x->channel, x->count, x->sends, x->to);
}

static int run(exchange *x)
{
    int rc = MPI_SUCCESS;
    for (int tries = 0; rc == MPI_SUCCESS && !(x->sent && x->distance >= x->size);) {
        bool moved = false;
        rc = look(x, &moved);
        if (rc == MPI_SUCCESS)
            rc = go_on(x, &moved);
        if (cco_queue_any()) /* what has begun goes on */
            moved = cco_queue_progress(true) || moved;
        if (moved)
            tries = 0;
        else
            cco_pause(&tries);
        if (rc == MPI_SUCCESS && cco_watch_is_time(tries))
            rc = lost(x);
    }
    return rc;
}

static void drop(MPI_Request *request)
{
    if (*request == MPI_REQUEST_NULL)
        return;
    PMPI_Cancel(request);
    PMPI_Request_free(request);
}

/* What is under way must not be taken for data of a later call.  Into memory for what came the MPI
 * may still write: it stays. */
static void abandon(exchange *x)
{
    kept *k = x->kept;
    __atomic_store_n(&x->channel->broken, true, __ATOMIC_RELAXED);
    for (int i = 0; !x->sent && i < x->count; i++)
        drop(&x->sends[i]);
    for (int i = 0; x->sent && x->distance < x->size && i < 2; i++)
        drop(&x->barrier[i]);
    k->data = NULL;
    k->bytes = k->data_room = 0;
    k->count = 0;
    k->there = false;
}

static int by_source(const void *a, const void *b)
{
    const came *x = a, *y = b;
    return x->source != y->source ? (x->source > y->source) - (x->source < y->source)
                                  : x->turn - y->turn;
}

/* The class of what is wrong with the arguments on this rank. */
static int wrong(const cco_comm *state, const int sendcounts[], MPI_Datatype type,
                 int ndestinations, const int destinations[])
{
    if (ndestinations < 0)
        return MPI_ERR_COUNT;
    if (type == MPI_DATATYPE_NULL)
        return MPI_ERR_TYPE;
    for (int i = 0; i < ndestinations; i++) {
        const int to = destinations[i];
        if (to != MPI_PROC_NULL && (to < 0 || to >= state->size))
            return MPI_ERR_RANK;
        if (sendcounts[i] < 0)
            return MPI_ERR_COUNT;
    }
    return MPI_SUCCESS;
}

/* A send that does not start is no send: nobody waits for it. */
static int send_all(exchange *x, const void *sendbuf, const int sendcounts[], const int sdispls[],
                    MPI_Datatype type, int ndestinations, const int destinations[])
{
    MPI_Aint low, extent = 0;
    int rc = ndestinations > 0 ? PMPI_Type_get_extent(type, &low, &extent) : MPI_SUCCESS;
    x->sends = grown(NULL, (size_t)ndestinations * sizeof(MPI_Request));
    x->to = grown(NULL, (size_t)ndestinations * sizeof *x->to);
    for (int i = 0; i < ndestinations && rc == MPI_SUCCESS; i++) {
        const char *from = (const char *)sendbuf + sdispls[i] * extent;
        if (destinations[i] == MPI_PROC_NULL)
            continue;
        rc = PMPI_Issend(from, sendcounts[i], type, destinations[i], x->tag, x->comm,
                         &x->sends[x->count]);
        x->to[x->count] = destinations[i];
        x->count += rc == MPI_SUCCESS;
    }
    return rc;
}

/* How many elements of a type have come; MPI_ERR_COUNT beyond an int. */
static int count_elements(const kept *k, MPI_Datatype type, int *elements)
{
    const MPI_Count size = cco_type_size(type);
    const size_t n = size > 0 ? k->bytes / (size_t)size : 0;
    *elements = n <= INT_MAX ? (int)n : MPI_UNDEFINED;
    return n <= INT_MAX ? MPI_SUCCESS : MPI_ERR_COUNT;
}

static int refuse(MPI_Comm comm, int error)
{
    int error_class = error;
    PMPI_Error_class(error, &error_class);
    PMPI_Comm_call_errhandler(comm, error_class);
    return error_class;
}

/* The state of an intracommunicator, which is set up; NULL for others. */
static cco_comm *state_of(MPI_Comm comm)
{
    if (cco_phase_now() == CCO_UNREAD)
        cco_process_begin_late();
    return comm != MPI_COMM_NULL ? cco_prepare(comm) : NULL;
}

/* Exchanges, and puts what came in order. */
static int exchange_all(exchange *x, const void *sendbuf, const int sendcounts[],
                        const int sdispls[], MPI_Datatype type, int ndestinations,
                        const int destinations[], int *bad)
{
    kept *k = x->kept;
    k->count = 0;
    k->bytes = 0;
    k->there = true;
    if (*bad == MPI_SUCCESS)
        *bad = send_all(x, sendbuf, sendcounts, sdispls, type, ndestinations, destinations);
    const int rc = run(x);
    if (rc != MPI_SUCCESS)
        abandon(x);
    free(x->sends);
    free(x->to);
    if (k->count > 1)
        qsort(k->list, (size_t)k->count, sizeof *k->list, by_source);
    return rc;
}

int CRESTA_Exchange(const void *sendbuf, const int sendcounts[], const int sdispls[],
                    MPI_Datatype type, int ndestinations, const int destinations[], int *sources,
                    int *elements, MPI_Comm comm)
{
    cco_comm *state = state_of(comm);
    if (state == NULL)
        return refuse(comm != MPI_COMM_NULL ? comm : MPI_COMM_WORLD, MPI_ERR_COMM);
    if (state->error != MPI_SUCCESS)
        return cco_comm_raise_in(state, "CRESTA_Exchange", state->error);
    if (cco_is_recorded(state)) {
        cco_report_recorded(state, "CRESTA_Exchange");
        return refuse(comm, MPI_ERR_UNSUPPORTED_OPERATION);
    }
    cco_channel *channel = cco_comm_channel(state);
    const int tag = channel != NULL ? cco_channel_exchange(channel) : -1;
    if (tag < 0)
        return refuse(comm, MPI_ERR_OTHER);
    exchange x = {.kept = kept_of(state),
                  .comm = channel->comm,
                  .tag = tag,
                  .rank = state->rank,
                  .size = state->size,
                  .channel = channel,
                  .watch = cco_comm_watch(state)};
    int bad = wrong(state, sendcounts, type, ndestinations, destinations);
    const int rc = exchange_all(&x, sendbuf, sendcounts, sdispls, type, ndestinations, destinations,
                                &bad);
    *sources = x.kept->count;
    *elements = 0;
    if (rc != MPI_SUCCESS && (state->error != MPI_SUCCESS || cco_ulfm_class(rc) != MPI_SUCCESS))
        return cco_comm_raise_in(state, "CRESTA_Exchange", rc);
    if (bad == MPI_SUCCESS && rc == MPI_SUCCESS)
        bad = count_elements(x.kept, type, elements);
    bad = rc != MPI_SUCCESS ? rc : bad;
    return bad == MPI_SUCCESS ? bad : refuse(comm, bad);
}

/* Counts the elements of each message; MPI_ERR_COUNT if they are more than an int in all. */
static int count_each(const kept *k, MPI_Datatype type, int counts[], int places[])
{
    const size_t size = (size_t)cco_type_size(type);
    int next = 0;
    for (int i = 0; i < k->count; i++) {
        const size_t n = size > 0 ? k->list[i].n / size : 0;
        if (n * size != k->list[i].n)
            return MPI_ERR_OTHER;
        if (n > (size_t)(INT_MAX - next))
            return MPI_ERR_COUNT;
        counts[i] = (int)n;
        places[i] = next;
        next += counts[i];
    }
    return MPI_SUCCESS;
}

int CRESTA_Exchange_take(void *recvbuf, int sources[], int recvcounts[], int rdispls[],
                         MPI_Datatype type, MPI_Comm comm)
{
    cco_comm *state = comm != MPI_COMM_NULL ? cco_comm_find(comm) : NULL;
    kept *k = state != NULL ? cco_comm_attached(state, &kept_key) : NULL;
    MPI_Aint low, extent = 0;
    if (k == NULL || !k->there)
        return refuse(comm != MPI_COMM_NULL ? comm : MPI_COMM_WORLD, MPI_ERR_OTHER);
    int rc = type != MPI_DATATYPE_NULL ? PMPI_Type_get_extent(type, &low, &extent) : MPI_ERR_TYPE;
    if (rc == MPI_SUCCESS)
        rc = count_each(k, type, recvcounts, rdispls);
    for (int i = 0; i < k->count && rc == MPI_SUCCESS; i++) {
        sources[i] = k->list[i].source;
        rc = cco_type_unpack((char *)recvbuf + rdispls[i] * extent, (size_t)recvcounts[i], type,
                             k->data + k->list[i].at);
    }
    if (rc != MPI_SUCCESS)
        return refuse(comm, rc);
    k->count = 0;
    k->bytes = 0;
    k->there = false;
    if (k->data_room > KEPT) {
        free(k->data);
        k->data = NULL;
        k->data_room = 0;
    }
    return MPI_SUCCESS;
}
