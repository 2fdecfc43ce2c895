/* SPDX-License-Identifier: BSD-3-Clause */
/* p2p.c - see p2p.h. */
#include "transport/p2p/p2p.h"

#include "transport/local/local.h"

#include <limits.h>
#include <stdlib.h>

#include "core/awaited.h"
#include "core/data.h"
#include "core/own_lines.h"
#include "core/transfer.h"
#include "sched/engine_loop.h"

typedef struct transfer {
    cco_p2p *shared;
    int tag;
    int count; /* messages under way */
    cco_awaited awaited;
    int *peers;
    MPI_Request requests[];
} transfer;

static void *open_transfer(void *shared, int messages)
{
    const size_t requests = (size_t)messages * sizeof(MPI_Request);
    transfer *f = cco_own_lines(sizeof *f + requests + (size_t)messages * sizeof *f->peers);
    if (f == NULL)
        return NULL;
    *f = (transfer){.shared = shared};
    f->peers = (int *)(void *)((char *)f->requests + requests);
    return f;
}

/* Calls must not take each other's messages, where one was given up. */
static int next_call(void *shared)
{
    cco_p2p *p2p = shared;
    p2p->tag = cco_channel_call(p2p->channel);
    return p2p->tag >= 0 ? MPI_SUCCESS : MPI_ERR_OTHER;
}

static void give_up(void *shared)
{
    cco_p2p *p2p = shared;
    __atomic_store_n(&p2p->channel->broken, true, __ATOMIC_RELAXED);
}

static void begin(void *data)
{
    transfer *f = data;
    f->tag = f->shared->tag++;
    f->count = 0;
    f->awaited = (cco_awaited){0};
}

/* A message of more elements than an int counts: one element of a type made for it. */
static int start_wide(transfer *f, int peer, const cco_data *data, bool sends)
{
    MPI_Request *request = &f->requests[f->count];
    MPI_Datatype wide;
    f->peers[f->count] = peer;
    int rc = cco_wide_type(data->count, data->layout->type, INT_MAX, &wide);
    if (rc != MPI_SUCCESS)
        return rc;
    rc = sends ? PMPI_Isend(data->at, 1, wide, peer, f->tag, f->shared->channel->comm, request)
               : PMPI_Irecv(data->at, 1, wide, peer, f->tag, f->shared->channel->comm, request);
    f->count += rc == MPI_SUCCESS;
    PMPI_Type_free(&wide);
    return rc;
}

static int start_recv(void *data, int peer, const cco_data *to)
{
    transfer *f = data;
    if (to->count > INT_MAX)
        return start_wide(f, peer, to, false);
    f->peers[f->count] = peer;
    const int rc = PMPI_Irecv(to->at, (int)to->count, to->layout->type, peer, f->tag,
                              f->shared->channel->comm, &f->requests[f->count]);
    f->count += rc == MPI_SUCCESS;
    return rc;
}

static int start_send(void *data, int peer, const cco_data *from)
{
    transfer *f = data;
    if (from->count > INT_MAX)
        return start_wide(f, peer, from, true);
    f->peers[f->count] = peer;
    const int rc = PMPI_Isend(from->at, (int)from->count, from->layout->type, peer, f->tag,
                              f->shared->channel->comm, &f->requests[f->count]);
    f->count += rc == MPI_SUCCESS;
    return rc;
}

/* gcc takes MPICH's MPI_STATUSES_IGNORE, the address 1, for an array. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#endif

static int test(void *data, bool *done)
{
    transfer *f = data;
    int flag = 0;
    const int rc = f->count == 1 ? PMPI_Test(f->requests, &flag, MPI_STATUS_IGNORE)
                                 : PMPI_Testall(f->count, f->requests, &flag, MPI_STATUSES_IGNORE);
    if (flag) {
        f->count = 0;
        f->awaited = (cco_awaited){0};
    }
    *done = flag && rc == MPI_SUCCESS;
    return rc == MPI_SUCCESS ? rc : cco_awaited_cause(f->shared->channel, rc);
}

static int lost(void *data)
{
    transfer *f = data;
    return cco_awaited_lost(&f->awaited, f->shared->watch, f->shared->channel, f->count,
                            f->requests, f->peers);
}

static int over(void *data, int number, bool *over)
{
    transfer *f = data;
    int flag = 0;
    const int rc = PMPI_Test(&f->requests[number], &flag, MPI_STATUS_IGNORE);
    *over = flag;
    return rc;
}

static void abandon(void *data)
{
    transfer *f = data;
    give_up(f->shared);
    for (int i = 0; i < f->count; i++)
        if (f->requests[i] != MPI_REQUEST_NULL)
            cco_transfer_give_up(&f->requests[i]);
    f->count = 0;
}

static int go_on(cco_engine *e)
{
    return cco_engine_loop(e, &cco_transport_p2p);
}

const cco_transport cco_transport_p2p = {
    .name = "p2p",
    .go_on = go_on,
    .tests_mpi = true,
    .open = open_transfer,
    .close = free,
    .call = next_call,
    .give_up = give_up,
    .begin = begin,
    .recv = start_recv,
    .send = start_send,
    .test = test,
    .lost = lost,
    .over = over,
    .abandon = abandon,
    .copy = cco_local_copy,
    .reduce = cco_local_reduce,
};
