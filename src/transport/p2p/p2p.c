/* SPDX-License-Identifier: BSD-3-Clause */
/* p2p.c - see p2p.h. */
#include "transport/p2p/p2p.h"

#include "transport/local/local.h"

#include <limits.h>
#include <stdlib.h>

#include "wait/awaited.h"
#include "call/data.h"
#include "base/own_lines.h"
#include "mpi/ulfm.h"
#include "sched/engine_loop.h"

typedef struct transfer {
    cco_p2p *shared;
    MPI_Comm comm;   /* of the channel, from the start of the schedule */
    int tag, offset; /* the offset is of the call (comm/channel.h) */
    uint64_t call;   /* its stamp */
    bool sized;      /* its messages differ in their bytes, and so in their tags */
    int count;       /* messages under way */
    cco_awaited awaited;
    int *peers;           /* `~`: where a message goes to */
    MPI_Status *statuses; /* which of several has an error, and which, nothing else says */
    MPI_Request requests[];
} transfer;

static void *p2p_open_transfer(void *shared, int messages)
{
    const size_t n = (size_t)messages;
    const size_t requests = n * sizeof(MPI_Request), statuses = n * sizeof(MPI_Status);
    transfer *f = cco_own_lines(sizeof *f + requests + statuses + n * sizeof *f->peers);
    if (f == NULL)
        return NULL;
    *f = (transfer){.shared = shared};
    f->statuses = (MPI_Status *)(void *)((char *)f->requests + requests);
    f->peers = (int *)(void *)(f->statuses + n);
    return f;
}

/* Calls must not take each other's messages, where one was given up. */
static int p2p_next_call(void *shared)
{
    cco_p2p *p2p = shared;
    p2p->tag = cco_channel_call(p2p->channel);
    return p2p->tag >= 0 ? MPI_SUCCESS : MPI_ERR_OTHER;
}

static void p2p_give_up(void *shared)
{
    cco_p2p *p2p = shared;
    __atomic_store_n(&p2p->channel->broken, true, __ATOMIC_RELAXED);
}

static void p2p_stamp(void *data, uint64_t stamp)
{
    transfer *f = data;
    if (f->shared->unlike == NULL)
        return;
    const unsigned coll = cco_stamp_coll(stamp) - 1;
    const int several = CCO_COUNTS | CCO_NEIGHBORS; /* sizes, or calls of one */
    const bool sized = coll < CCO_COLLECTIVES && cco_coll_infos[coll].properties & several;
    f->call = sized ? stamp & CCO_STAMP_BELOW_BYTES : stamp;
    f->offset = cco_channel_offset(f->shared->channel, f->call);
    f->sized = sized && f->offset != 0;
}

/* Ranks agree on no counts here: a receive takes only a message of its own length. */
__attribute__((noinline)) static int p2p_sized_tag(const transfer *f, size_t bytes)
{
    const uint64_t stamp = f->call | cco_stamp_bytes(bytes);
    return f->tag - f->offset + cco_channel_offset(f->shared->channel, stamp);
}

static inline int p2p_tag(const transfer *f, const cco_data *data)
{
    return __builtin_expect(f->sized, 0) ? p2p_sized_tag(f, data->count * data->layout->size)
                                         : f->tag;
}

static void p2p_begin(void *data)
{
    transfer *f = data;
    f->comm = f->shared->channel->comm;
    f->tag = f->shared->tag++ + f->offset;
    f->count = 0; /* nor is there anything in `awaited` */
}

/* A message of more elements than an int counts: one element of a type made for it. */
static int start_wide(transfer *f, int peer, const cco_data *data, bool sends)
{
    MPI_Request *request = &f->requests[f->count];
    const int tag = p2p_tag(f, data);
    MPI_Datatype wide;
    int rc = cco_wide_type(data->count, data->layout->type, INT_MAX, &wide);
    if (rc != MPI_SUCCESS)
        return rc;
    rc = sends ? PMPI_Isend(data->at, 1, wide, peer, tag, f->comm, request)
               : PMPI_Irecv(data->at, 1, wide, peer, tag, f->comm, request);
    f->count += rc == MPI_SUCCESS;
    PMPI_Type_free(&wide);
    return rc;
}

/* At most as many as an int counts.  These are inline in loops over tasks, where the data need not
 * be in memory: nothing else may take their address. */
static inline int recv_few(void *data, int peer, const cco_data *to)
{
    transfer *f = data;
    const int i = f->count;
    const int rc = PMPI_Irecv(to->at, (int)to->count, to->layout->type, peer, p2p_tag(f, to),
                              f->comm, &f->requests[i]);
    if (rc == MPI_SUCCESS)
        f->count = i + 1;
    return rc;
}

static inline int send_few(void *data, int peer, const cco_data *from)
{
    transfer *f = data;
    const int i = f->count;
    const int rc = PMPI_Isend(from->at, (int)from->count, from->layout->type, peer,
                              p2p_tag(f, from), f->comm, &f->requests[i]);
    if (rc == MPI_SUCCESS)
        f->count = i + 1;
    return rc;
}

static int p2p_start_recv(void *data, int peer, const cco_data *to)
{
    transfer *f = data;
    f->peers[f->count] = peer;
    return to->count > INT_MAX ? start_wide(f, peer, to, false) : recv_few(f, peer, to);
}

static int p2p_start_send(void *data, int peer, const cco_data *from)
{
    transfer *f = data;
    f->peers[f->count] = ~peer;
    return from->count > INT_MAX ? start_wide(f, peer, from, true) : send_few(f, peer, from);
}

/* gcc takes MPICH's MPI_STATUSES_IGNORE, the address 1, for an array. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#endif

static int p2p_class_of(int error)
{
    int class = error;
    PMPI_Error_class(error, &class);
    return class;
}

/* A rank makes another call; -1: it is not known which. */
static int p2p_differs(const transfer *f, int rank, uint64_t there)
{
    const cco_channel *channel = f->shared->channel;
    uint64_t here = f->call;
    if (!channel->begins)
        cco_channel_reads(channel, f->tag, f->tag, f->call, &here); /* its number */
    if (f->call >> CCO_STAMP_BYTES_AT > 0)
        here = (here & CCO_STAMP_BELOW_BYTES) | (f->call & ~CCO_STAMP_BELOW_BYTES);
    return cco_unlike_note(f->shared->unlike, rank, here, channel->begins ? 0 : there);
}

/* The error of requests: messages may be longer than their receivers take. */
__attribute__((noinline, cold)) static int p2p_cause(const transfer *f, int count, int rc)
{
    const bool several = count > 1 && p2p_class_of(rc) == MPI_ERR_IN_STATUS;
    for (int i = 0; i < count; i++)
        if (p2p_class_of(several ? f->statuses[i].MPI_ERROR : rc) == MPI_ERR_TRUNCATE)
            return p2p_differs(f, -1, 0);
    return cco_awaited_cause(f->shared->channel, rc);
}

static inline int p2p_look(void *data, bool *done)
{
    transfer *f = data;
    int flag = 0;
    const int rc = f->count == 1 ? PMPI_Test(f->requests, &flag, MPI_STATUS_IGNORE)
                                 : PMPI_Testall(f->count, f->requests, &flag, f->statuses);
    const int count = f->count;
    if (flag)
        f->count = 0;
    *done = flag != 0;
    if (rc == MPI_SUCCESS)
        return rc;
    *done = false;
    return p2p_cause(f, count, rc);
}

/* A receive was cancelled since its sender makes another call: either it is over now, or the
 * message had come, and the wait goes on. */
static int p2p_settle(transfer *f, bool *settled)
{
    const int i = f->awaited.at;
    int over = 0, cancelled = 0;
    MPI_Status status;
    const int rc = PMPI_Test(&f->requests[i], &over, &status);
    *settled = false;
    if (rc != MPI_SUCCESS)
        return p2p_cause(f, 1, rc);
    if (over)
        PMPI_Test_cancelled(&status, &cancelled);
    *settled = over && !cancelled;
    return cancelled ? p2p_differs(f, f->peers[i], f->awaited.there) : MPI_SUCCESS;
}

static int p2p_test(void *data, bool *done)
{
    transfer *f = data;
    int rc = MPI_SUCCESS;
    *done = true;
    if (cco_awaited_strays(&f->awaited))
        rc = p2p_settle(f, done);
    if (rc == MPI_SUCCESS && *done) {
        f->awaited.there = 0;
        rc = p2p_look(f, done);
    }
    if (*done)
        f->awaited = (cco_awaited){0};
    return rc;
}

static int p2p_lost(void *data)
{
    transfer *f = data;
    if (cco_awaited_strays(&f->awaited)) /* first of all that is settled */
        return MPI_SUCCESS;
    const cco_awaited_call call = {f->call, f->sized && !f->shared->channel->begins ? -1 : f->tag};
    const int rc = cco_awaited_lost(&f->awaited, f->shared->watch, f->shared->channel, f->count,
                                    f->requests, f->peers, f->offset != 0 ? &call : NULL);
    return rc == MPI_SUCCESS && cco_awaited_strays(&f->awaited)
               ? PMPI_Cancel(&f->requests[f->awaited.at])
               : rc;
}

static int p2p_over(void *data, int number, bool *over)
{
    transfer *f = data;
    int flag = 0;
    const int rc = PMPI_Test(&f->requests[number], &flag, MPI_STATUS_IGNORE);
    *over = flag;
    return rc;
}

static void p2p_abandon(void *data)
{
    transfer *f = data;
    p2p_give_up(f->shared);
    /* Open MPI 4.1 crashes when a request is cancelled again. */
    const int cancelled = cco_awaited_strays(&f->awaited) ? f->awaited.at : -1;
    for (int i = 0; i < f->count; i++)
        if (f->requests[i] != MPI_REQUEST_NULL && i == cancelled)
            PMPI_Request_free(&f->requests[i]);
        else if (f->requests[i] != MPI_REQUEST_NULL)
            cco_ulfm_give_up(&f->requests[i]);
    f->count = 0;
    f->awaited = (cco_awaited){0};
}

static int p2p_go_on(cco_engine *e)
{
    return cco_engine_loop(e, &cco_transport_p2p);
}

/* For schedules that run at once.  Who is at the other ends matters only for a wait. */
static const cco_transport at_once = {
    .tests_mpi = true,
    .words = true,
    .begin = p2p_begin,
    .recv = recv_few,
    .send = send_few,
    .test = p2p_look,
    .copy = cco_local_copy,
    .reduce = cco_local_reduce,
};

static void note_peers(const cco_engine *e)
{
    transfer *f = e->transfer;
    int i = 0;
    for (const task *t = e->opened; t->kind < TASK_WAIT; t++)
        if (t->kind == TASK_SEND || t->kind == TASK_RECV)
            f->peers[i++] = t->kind == TASK_SEND ? ~t->peer : t->peer;
}

static int p2p_run(cco_engine *e, const cco_binding *binding)
{
    int rc = MPI_SUCCESS;
    if (e->wide)
        return cco_engine_run_any(e, binding);
    const task *end = cco_engine_pass(e, binding, &at_once, &rc);
    if (__builtin_expect(end == NULL, 1))
        return rc;
    cco_engine_stay(e, end);
    note_peers(e);
    return cco_engine_wait(e);
}

const cco_transport cco_transport_p2p = {
    .name = "p2p",
    .go_on = p2p_go_on,
    .run = p2p_run,
    .tests_mpi = true,
    .words = true,
    .empties = true,
    .open = p2p_open_transfer,
    .close = free,
    .stamp = p2p_stamp,
    .call = p2p_next_call,
    .give_up = p2p_give_up,
    .begin = p2p_begin,
    .recv = p2p_start_recv,
    .send = p2p_start_send,
    .test = p2p_test,
    .lost = p2p_lost,
    .over = p2p_over,
    .abandon = p2p_abandon,
    .copy = cco_local_copy,
    .reduce = cco_local_reduce,
};
