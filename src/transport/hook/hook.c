/* SPDX-License-Identifier: BSD-3-Clause */
/* hook.c - see hook.h. */
#include "transport/hook/hook.h"

#include <stdlib.h>

#include "transport/local/local.h"

enum { LONGEST = 8 }; /* tests that a message is held back, less one */

/* A message that has not started yet. */
typedef struct held {
    bool sends;
    int peer;
    int left; /* tests */
    cco_data data;
} held;

typedef struct transfer {
    cco_hook *hook;
    void *inner;
    int count;
    held waiting[];
} transfer;

static void *open_transfer(void *shared, int messages)
{
    cco_hook *hook = shared;
    transfer *f = calloc(1, sizeof *f + (size_t)messages * sizeof f->waiting[0]);
    if (f == NULL)
        return NULL;
    f->hook = hook;
    if (hook->inner != NULL && (f->inner = hook->inner->open(hook->shared, messages)) == NULL) {
        free(f);
        return NULL;
    }
    return f;
}

static void close_transfer(void *data)
{
    transfer *f = data;
    if (f->inner != NULL)
        f->hook->inner->close(f->inner);
    free(f);
}

static int next_call(void *shared)
{
    const cco_hook *hook = shared;
    const cco_transport *inner = hook->inner;
    return inner != NULL && inner->call != NULL ? inner->call(hook->shared) : MPI_SUCCESS;
}

static void give_up(void *shared)
{
    const cco_hook *hook = shared;
    if (hook->inner != NULL && hook->inner->give_up != NULL)
        hook->inner->give_up(hook->shared);
}

static void begin(void *data)
{
    transfer *f = data;
    f->count = 0;
    if (f->inner != NULL)
        f->hook->inner->begin(f->inner);
}

/* Counts and shows an operation; says whether it is the one to fail. */
static int note(transfer *f, const char *what, int peer, const cco_data *data)
{
    cco_hook *hook = f->hook;
    hook->operations++;
    if (hook->trace != NULL)
        hook->trace(hook->listener, what, peer, cco_data_bytes(data));
    return hook->operations == hook->fail ? MPI_ERR_OTHER : MPI_SUCCESS;
}

/* xorshift64 (G. Marsaglia: Xorshift RNGs, J. Stat. Softw. 8 (2003)). */
static int chance(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return (int)(*seed % LONGEST);
}

static int start(transfer *f, const held *m)
{
    const cco_transport *inner = f->hook->inner;
    return m->sends ? inner->send(f->inner, m->peer, &m->data)
                    : inner->recv(f->inner, m->peer, &m->data);
}

static int take(transfer *f, const held *m)
{
    const int rc = note(f, m->sends ? "send" : "recv", m->peer, &m->data);
    if (rc != MPI_SUCCESS || f->inner == NULL)
        return rc;
    if (f->hook->seed == 0)
        return start(f, m);
    f->waiting[f->count] = *m;
    f->waiting[f->count++].left = chance(&f->hook->seed);
    return MPI_SUCCESS;
}

static int start_recv(void *data, int peer, const cco_data *to)
{
    return take(data, &(held){.peer = peer, .data = *to});
}

static int start_send(void *data, int peer, const cco_data *from)
{
    return take(data, &(held){.sends = true, .peer = peer, .data = *from});
}

/* Messages match in the order of calls, so none may overtake another of its kind and peer. */
static bool may_start(const transfer *f, int kept, const held *m)
{
    for (int i = 0; i < kept; i++)
        if (f->waiting[i].peer == m->peer && f->waiting[i].sends == m->sends)
            return false;
    return m->left <= 0;
}

/* Starts what was held back long enough. */
static int let_go(transfer *f)
{
    int kept = 0, rc = MPI_SUCCESS;
    for (int i = 0; i < f->count && rc == MPI_SUCCESS; i++) {
        held m = f->waiting[i];
        m.left--;
        if (may_start(f, kept, &m))
            rc = start(f, &m);
        else
            f->waiting[kept++] = m;
    }
    f->count = kept;
    return rc;
}

static int test(void *data, bool *done)
{
    transfer *f = data;
    bool ended = true;
    int rc = let_go(f);
    if (rc == MPI_SUCCESS && f->inner != NULL)
        rc = f->hook->inner->test(f->inner, &ended);
    *done = ended && f->count == 0;
    return rc;
}

static void abandon(void *data)
{
    transfer *f = data;
    f->count = 0;
    if (f->inner != NULL)
        f->hook->inner->abandon(f->inner);
}

static int copy(void *data, const cco_data *from, const cco_data *to)
{
    transfer *f = data;
    const int rc = note(f, "copy", -1, from);
    if (rc != MPI_SUCCESS)
        return rc;
    return f->inner != NULL ? f->hook->inner->copy(f->inner, from, to)
                            : cco_mpi_copy(NULL, from, to);
}

static int reduce(void *data, const cco_data *from, const cco_data *into, const cco_reduce_op *op)
{
    transfer *f = data;
    const int rc = note(f, "reduce", -1, from);
    if (rc != MPI_SUCCESS)
        return rc;
    return f->inner != NULL ? f->hook->inner->reduce(f->inner, from, into, op)
                            : cco_mpi_reduce(NULL, from, into, op);
}

const cco_transport cco_transport_hook = {
    .name = "hook",
    .open = open_transfer,
    .close = close_transfer,
    .call = next_call,
    .give_up = give_up,
    .begin = begin,
    .recv = start_recv,
    .send = start_send,
    .test = test,
    .abandon = abandon,
    .copy = copy,
    .reduce = reduce,
};
