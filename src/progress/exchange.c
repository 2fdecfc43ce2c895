/* SPDX-License-Identifier: BSD-3-Clause */
/* exchange.c - see exchange.h. */
#include "progress/exchange.h"

#include <limits.h>
#include <stdlib.h>

#include "call/data.h"
#include "base/log.h"
#include "mpi/ulfm.h"

/* gcc takes MPICH's MPI_STATUSES_IGNORE, the address 1, for an array. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#endif

static void *progress_exchange_grown(void *memory, size_t bytes)
{
    void *more = realloc(memory, bytes > 0 ? bytes : 1);
    if (more == NULL) /* others wait for what this rank receives */
        cco_fatal("CRESTA_Exchange: no memory for %zu bytes", bytes);
    return more;
}

void cco_exchange_reset(cco_exchange *x, MPI_Comm comm, int tag)
{
    x->comm = comm;
    x->tag = tag;
    PMPI_Comm_rank(comm, &x->rank);
    PMPI_Comm_size(comm, &x->size);
    x->count = x->came = 0;
    x->bytes = 0;
    x->sent = false;
    x->incoming = MPI_REQUEST_NULL;
    x->awaited = (cco_awaited){0};
}

int cco_exchange_send(cco_exchange *x, const cco_exchange_sends *s)
{
    int rc = MPI_SUCCESS;
    x->sends = progress_exchange_grown(NULL, (size_t)s->count * sizeof *x->sends);
    x->to = progress_exchange_grown(NULL, (size_t)s->count * sizeof *x->to);
    for (int i = 0; i < s->count && rc == MPI_SUCCESS; i++) {
        if (s->destinations[i] == MPI_PROC_NULL)
            continue;
        rc = PMPI_Issend(s->buffer + s->displs[i] * s->extent, s->counts[i], s->type,
                         s->destinations[i], x->tag, x->comm, &x->sends[x->count]);
        x->to[x->count] = s->destinations[i];
        x->count += rc == MPI_SUCCESS;
    }
    return rc;
}

static char *progress_exchange_room_for(cco_exchange *x, int source, size_t n)
{
    if (x->came == x->room) {
        x->room = 2 * x->room + 8;
        x->list = progress_exchange_grown(x->list, (size_t)x->room * sizeof *x->list);
    }
    if (x->data_room - x->bytes < n) {
        x->data_room = 2 * x->data_room + n;
        x->data = progress_exchange_grown(x->data, x->data_room);
    }
    x->list[x->came] = (cco_exchange_message){source, x->came, x->bytes, n};
    x->came++;
    x->bytes += n;
    return x->data + x->bytes - n;
}

static int progress_exchange_receive(cco_exchange *x, MPI_Message message, const MPI_Status *status)
{
    MPI_Count n = 0;
    MPI_Datatype wide = MPI_BYTE;
    int rc = PMPI_Get_elements_x(status, MPI_BYTE, &n);
    char *to = progress_exchange_room_for(x, status->MPI_SOURCE, (size_t)n);
    if (rc == MPI_SUCCESS && n > INT_MAX)
        rc = cco_wide_type((size_t)n, MPI_BYTE, INT_MAX, &wide);
    if (rc == MPI_SUCCESS)
        rc = PMPI_Imrecv(to, n > INT_MAX ? 1 : (int)n, wide, &message, &x->incoming);
    if (wide != MPI_BYTE)
        PMPI_Type_free(&wide);
    return rc;
}

/* Receives what is there, one message after the other: the next may need the data to be moved. */
static int progress_exchange_look(cco_exchange *x, bool *moved)
{
    for (;;) {
        MPI_Message message;
        MPI_Status status;
        int there = 0, over = 1, rc = PMPI_Test(&x->incoming, &over, MPI_STATUS_IGNORE);
        if (rc != MPI_SUCCESS || !over)
            return rc;
        rc = PMPI_Improbe(MPI_ANY_SOURCE, x->tag, x->comm, &there, &message, &status);
        if (rc == MPI_SUCCESS && there)
            rc = progress_exchange_receive(x, message, &status);
        if (rc != MPI_SUCCESS || !there)
            return rc;
        *moved = true;
    }
}

/* Opens a round of the barrier (dissemination): of D. Hensgen, R. Finkel, U. Manber, 1988. */
static int open_round(cco_exchange *x)
{
    const int to = (x->rank + x->distance) % x->size;
    const int from = (x->rank - x->distance + x->size) % x->size;
    x->barrier[0] = x->barrier[1] = MPI_REQUEST_NULL;
    if (x->distance >= x->size)
        return MPI_SUCCESS;
    int rc = PMPI_Irecv(NULL, 0, MPI_BYTE, from, x->tag + 1, x->comm, &x->barrier[0]);
    if (rc == MPI_SUCCESS)
        rc = PMPI_Isend(NULL, 0, MPI_BYTE, to, x->tag + 1, x->comm, &x->barrier[1]);
    return rc;
}

/* Goes on with the sends, and then with the barrier. */
static int progress_exchange_go_on(cco_exchange *x, bool *moved)
{
    int over = 0;
    const int n = x->sent ? 2 : x->count;
    MPI_Request *requests = x->sent ? x->barrier : x->sends;
    const int rc = PMPI_Testall(n, requests, &over, MPI_STATUSES_IGNORE);
    if (rc != MPI_SUCCESS || !over)
        return rc;
    *moved = true;
    x->distance = x->sent ? 2 * x->distance : 1;
    x->sent = true;
    x->awaited = (cco_awaited){0};
    return open_round(x);
}

int cco_exchange_test(cco_exchange *x, bool *moved, bool *over)
{
    int rc = progress_exchange_look(x, moved);
    if (rc == MPI_SUCCESS && !(x->sent && x->distance >= x->size))
        rc = progress_exchange_go_on(x, moved);
    *over = x->sent && x->distance >= x->size && x->incoming == MPI_REQUEST_NULL;
    return rc;
}

/* All of a message may not have come though its sender has met the barrier. */
int cco_exchange_lost(cco_exchange *x, cco_watch *watch, const cco_channel *channel)
{
    enum { IN, OUT, INCOMING, ALL };
    if (!x->sent)
        return cco_awaited_lost(&x->awaited, watch, channel, x->count, x->sends, x->to, NULL);
    const MPI_Request requests[ALL] = {
        [IN] = x->barrier[0], [OUT] = x->barrier[1], [INCOMING] = x->incoming};
    const int peers[ALL] = {[IN] = (x->rank - x->distance % x->size + x->size) % x->size,
                            [OUT] = (x->rank + x->distance) % x->size,
                            [INCOMING] = x->came > 0 ? x->list[x->came - 1].source : x->rank};
    return cco_awaited_lost(&x->awaited, watch, channel, ALL, requests, peers, NULL);
}

static bool progress_exchange_give_up(MPI_Request *request)
{
    if (*request == MPI_REQUEST_NULL)
        return false;
    cco_ulfm_give_up(request);
    return true;
}

void cco_exchange_abandon(cco_exchange *x)
{
    for (int i = 0; i < x->count && !x->sent; i++)
        progress_exchange_give_up(&x->sends[i]);
    for (int i = 0; i < 2 && x->sent && x->distance < x->size; i++)
        progress_exchange_give_up(&x->barrier[i]);
    if (progress_exchange_give_up(&x->incoming)) { /* which the MPI may still write */
        x->data = NULL;
        x->data_room = 0;
    }
    x->came = 0;
    x->bytes = 0;
}

static int by_source(const void *a, const void *b)
{
    const cco_exchange_message *x = a, *y = b;
    return x->source != y->source ? (x->source > y->source) - (x->source < y->source)
                                  : x->turn - y->turn;
}

void cco_exchange_sort(cco_exchange *x)
{
    if (x->came > 1)
        qsort(x->list, (size_t)x->came, sizeof *x->list, by_source);
}

void cco_exchange_trim(cco_exchange *x, size_t keeps)
{
    free(x->sends);
    free(x->to);
    x->sends = NULL;
    x->to = NULL;
    if (x->data_room <= keeps)
        return;
    free(x->data);
    x->data = NULL;
    x->data_room = 0;
}

void cco_exchange_free(cco_exchange *x)
{
    cco_exchange_trim(x, 0);
    free(x->list);
    free(x->data);
}
