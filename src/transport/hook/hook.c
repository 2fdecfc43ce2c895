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
    int left;   /* tests */
    int number; /* in its round */
    cco_data data;
} held;

enum { NOT_STARTED = -1, THROUGH = -2 };

typedef struct transfer {
    cco_hook *hook;
    void *inner;
    int count;
    int taken, started; /* messages of the open round: by us, and by what is within */
    int *numbers;       /* there, of each that was taken; NOT_STARTED, THROUGH */
    held waiting[];
} transfer;

static void *hook_open_transfer(void *shared, int messages)
{
    cco_hook *hook = shared;
    transfer *f = calloc(1, sizeof *f + (size_t)messages * sizeof f->waiting[0]);
    if (f == NULL)
        return NULL;
    f->hook = hook;
    f->numbers = malloc(((size_t)messages + 1) * sizeof *f->numbers);
    if (f->numbers != NULL && hook->inner != NULL)
        f->inner = hook->inner->open(hook->shared, messages);
    if (f->numbers != NULL && (hook->inner == NULL || f->inner != NULL))
        return f;
    free(f->numbers);
    free(f);
    return NULL;
}

static void hook_close_transfer(void *data)
{
    transfer *f = data;
    if (f->inner != NULL)
        f->hook->inner->close(f->inner);
    free(f->numbers);
    free(f);
}

static void hook_stamp(void *data, uint64_t stamp)
{
    const transfer *f = data;
    if (f->inner != NULL && f->hook->inner->stamp != NULL)
        f->hook->inner->stamp(f->inner, stamp);
}

static int hook_next_call(void *shared)
{
    const cco_hook *hook = shared;
    const cco_transport *inner = hook->inner;
    return inner != NULL && inner->call != NULL ? inner->call(hook->shared) : MPI_SUCCESS;
}

static void hook_give_up(void *shared)
{
    const cco_hook *hook = shared;
    if (hook->inner != NULL && hook->inner->give_up != NULL)
        hook->inner->give_up(hook->shared);
}

static void hook_begin(void *data)
{
    transfer *f = data;
    f->count = f->taken = f->started = 0;
    if (f->inner != NULL)
        f->hook->inner->begin(f->inner);
}

static void hook_end(void *data)
{
    const transfer *f = data;
    if (f->inner != NULL && f->hook->inner->end != NULL)
        f->hook->inner->end(f->inner);
}

/* Counts and shows an operation; says whether it is the one to fail. */
static int hook_note(transfer *f, const char *what, int peer, const cco_data *data)
{
    cco_hook *hook = f->hook;
    hook->operations++;
    if (hook->trace != NULL)
        hook->trace(hook->listener, what, peer, cco_data_bytes(data));
    return hook->operations == hook->fail ? MPI_ERR_OTHER : MPI_SUCCESS;
}

/* xorshift64 (G. Marsaglia: Xorshift RNGs, J. Stat. Softw. 8 (2003)). */
static int hook_chance(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return (int)(*seed % LONGEST);
}

static int hook_start(transfer *f, const held *m)
{
    const cco_transport *inner = f->hook->inner;
    f->numbers[m->number] = f->started++;
    return m->sends ? inner->send(f->inner, m->peer, &m->data)
                    : inner->recv(f->inner, m->peer, &m->data);
}

static int hook_take(transfer *f, held *m)
{
    const int rc = hook_note(f, m->sends ? "send" : "recv", m->peer, &m->data);
    if (rc != MPI_SUCCESS || f->inner == NULL)
        return rc;
    m->number = f->taken++;
    f->numbers[m->number] = NOT_STARTED;
    if (f->hook->seed == 0)
        return hook_start(f, m);
    m->left = hook_chance(&f->hook->seed);
    f->waiting[f->count++] = *m;
    return MPI_SUCCESS;
}

static int hook_start_recv(void *data, int peer, const cco_data *to)
{
    return hook_take(data, &(held){.peer = peer, .data = *to});
}

static int hook_start_send(void *data, int peer, const cco_data *from)
{
    return hook_take(data, &(held){.sends = true, .peer = peer, .data = *from});
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
static int hook_let_go(transfer *f)
{
    int kept = 0, rc = MPI_SUCCESS;
    for (int i = 0; i < f->count && rc == MPI_SUCCESS; i++) {
        held m = f->waiting[i];
        m.left--;
        if (may_start(f, kept, &m))
            rc = hook_start(f, &m);
        else
            f->waiting[kept++] = m;
    }
    f->count = kept;
    return rc;
}

/* What is within has ended all that started there, and counts anew. */
static void hook_count_anew(transfer *f, bool done)
{
    for (int i = 0; i < f->taken; i++)
        if (f->numbers[i] >= 0)
            f->numbers[i] = THROUGH;
    f->started = 0;
    if (done)
        f->taken = 0;
}

static int hook_test(void *data, bool *done)
{
    transfer *f = data;
    bool ended = true;
    int rc = hook_let_go(f);
    if (rc == MPI_SUCCESS && f->inner != NULL)
        rc = f->hook->inner->test(f->inner, &ended);
    *done = ended && f->count == 0;
    if (rc == MPI_SUCCESS && ended)
        hook_count_anew(f, *done);
    return rc;
}

static int hook_lost(void *data)
{
    const transfer *f = data;
    const cco_transport *inner = f->hook->inner;
    return inner != NULL && inner->lost != NULL ? inner->lost(f->inner) : MPI_SUCCESS;
}

static int hook_over(void *data, int number, bool *over)
{
    const transfer *f = data;
    const cco_transport *inner = f->hook->inner;
    *over = f->numbers[number] == THROUGH;
    if (inner == NULL || inner->over == NULL || f->numbers[number] < 0)
        return MPI_SUCCESS;
    return inner->over(f->inner, f->numbers[number], over);
}

static void hook_abandon(void *data)
{
    transfer *f = data;
    f->count = 0;
    if (f->inner != NULL)
        f->hook->inner->abandon(f->inner);
}

static int hook_copy(void *data, const cco_data *from, const cco_data *to)
{
    transfer *f = data;
    const int rc = hook_note(f, "copy", -1, from);
    if (rc != MPI_SUCCESS)
        return rc;
    return f->inner != NULL ? f->hook->inner->copy(f->inner, from, to)
                            : cco_mpi_copy(NULL, from, to);
}

static int hook_reduce(void *data, const cco_data *from, const cco_data *into,
                       const cco_reduce_op *op)
{
    transfer *f = data;
    const int rc = hook_note(f, "reduce", -1, from);
    if (rc != MPI_SUCCESS)
        return rc;
    return f->inner != NULL ? f->hook->inner->reduce(f->inner, from, into, op)
                            : cco_mpi_reduce(NULL, from, into, op);
}

const cco_transport cco_transport_hook = {
    .name = "hook",
    .open = hook_open_transfer,
    .close = hook_close_transfer,
    .stamp = hook_stamp,
    .call = hook_next_call,
    .give_up = hook_give_up,
    .begin = hook_begin,
    .end = hook_end,
    .recv = hook_start_recv,
    .send = hook_start_send,
    .test = hook_test,
    .lost = hook_lost,
    .over = hook_over,
    .abandon = hook_abandon,
    .copy = hook_copy,
    .reduce = hook_reduce,
};
