/* SPDX-License-Identifier: BSD-3-Clause */
/* matcher.c - see matcher.h. */
#include "simulator/matcher.h"

#include <stdlib.h>
#include <string.h>

/* A send that waits for its receive. */
struct cco_message {
    int from, to;
    cco_data data;
    int *unsent; /* of the sender's transfer */
    cco_message *next;
};

enum { CAME = -1, IS_SENT = -2 };

/* A message of the round. */
typedef struct awaited {
    int peer; /* or CAME, or of one that this rank sends, IS_SENT */
    cco_data data;
} awaited;

typedef struct transfer {
    cco_endpoint *endpoint;
    int unsent, count;
    awaited receives[];
} transfer;

static void *open_transfer(void *shared, int messages)
{
    transfer *f = calloc(1, sizeof *f + (size_t)messages * sizeof f->receives[0]);
    if (f != NULL)
        f->endpoint = shared;
    return f;
}

static void begin(void *data)
{
    transfer *f = data;
    f->unsent = f->count = 0;
}

static int start_recv(void *data, int peer, const cco_data *to)
{
    transfer *f = data;
    f->receives[f->count++] = (awaited){peer, *to};
    return MPI_SUCCESS;
}

static int start_send(void *data, int peer, const cco_data *from)
{
    transfer *f = data;
    cco_message **end = &f->endpoint->matcher->first, *message = malloc(sizeof *message);
    if (message == NULL)
        return MPI_ERR_NO_MEM;
    *message = (cco_message){f->endpoint->rank, peer, *from, &f->unsent, NULL};
    f->unsent++;
    f->receives[f->count++] = (awaited){IS_SENT, *from};
    while (*end != NULL)
        end = &(*end)->next;
    *end = message;
    return MPI_SUCCESS;
}

/* As many bytes of data from one layout to another. */
static void move(const cco_data *from, const cco_data *to)
{
    const size_t n = cco_data_bytes(from);
    for (size_t i = 0; i < n; i++) {
        const size_t a = i / from->layout->size, b = i / to->layout->size;
        to->at[(ptrdiff_t)b * to->layout->extent + (ptrdiff_t)(i % to->layout->size)] =
            from->at[(ptrdiff_t)a * from->layout->extent + (ptrdiff_t)(i % from->layout->size)];
    }
}

/* Takes the first message from a peer, if one is there. */
static void look_for(transfer *f, awaited *wanted)
{
    cco_matcher *matcher = f->endpoint->matcher;
    for (cco_message **link = &matcher->first; *link != NULL; link = &(*link)->next) {
        cco_message *message = *link;
        if (message->from != wanted->peer || message->to != f->endpoint->rank)
            continue;
        if (cco_data_bytes(&message->data) == cco_data_bytes(&wanted->data))
            move(&message->data, &wanted->data);
        else
            matcher->mismatch = true;
        --*message->unsent;
        wanted->peer = CAME;
        *link = message->next;
        free(message);
        return;
    }
}

static int test(void *data, bool *done)
{
    transfer *f = data;
    bool all = true;
    for (int i = 0; i < f->count; i++) {
        if (f->receives[i].peer >= 0)
            look_for(f, &f->receives[i]);
        all = all && f->receives[i].peer < 0;
    }
    *done = all && f->unsent == 0;
    if (*done)
        f->count = 0;
    return MPI_SUCCESS;
}

static int over(void *data, int number, bool *over)
{
    const transfer *f = data;
    *over = f->receives[number].peer == CAME;
    return MPI_SUCCESS;
}

static void abandon(void *data)
{
    transfer *f = data;
    for (cco_message **link = &f->endpoint->matcher->first; *link != NULL;) {
        cco_message *message = *link;
        if (message->unsent == &f->unsent) {
            *link = message->next;
            free(message);
        } else {
            link = &message->next;
        }
    }
    f->unsent = f->count = 0;
}

static int copy(void *transfer, const cco_data *from, const cco_data *to)
{
    (void)transfer;
    move(from, to);
    return MPI_SUCCESS;
}

static int reduce(void *data, const cco_data *from, const cco_data *into, const cco_reduce_op *op)
{
    const transfer *f = data;
    (void)op;
    for (size_t i = 0; i < into->count; i++)
        f->endpoint->matcher->reduce(from->at + (ptrdiff_t)i * from->layout->extent,
                                     into->at + (ptrdiff_t)i * into->layout->extent,
                                     into->layout->size);
    return MPI_SUCCESS;
}

const cco_transport cco_transport_matcher = {
    .name = "matcher",
    .open = open_transfer,
    .close = free,
    .begin = begin,
    .recv = start_recv,
    .send = start_send,
    .test = test,
    .over = over,
    .abandon = abandon,
    .copy = copy,
    .reduce = reduce,
};
