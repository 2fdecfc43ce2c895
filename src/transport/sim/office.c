/* SPDX-License-Identifier: BSD-3-Clause */
/* office.c - see office.h. */
#include "transport/sim/office.h"

#include <stdlib.h>
#include <string.h>

/* A send that waits for its receive. */
struct cco_letter {
    int from, to;
    cco_data data;
    int *unsent; /* of the sender's flight */
    cco_letter *next;
};

typedef struct awaited {
    int peer; /* -1: it has come */
    cco_data data;
} awaited;

typedef struct flight {
    cco_desk *desk;
    int unsent, count;
    awaited receives[];
} flight;

static void *open_flight(void *shared, int messages)
{
    flight *f = calloc(1, sizeof *f + (size_t)messages * sizeof f->receives[0]);
    if (f != NULL)
        f->desk = shared;
    return f;
}

static void begin(void *data)
{
    flight *f = data;
    f->unsent = f->count = 0;
}

static int start_recv(void *data, int peer, const cco_data *to)
{
    flight *f = data;
    f->receives[f->count++] = (awaited){peer, *to};
    return MPI_SUCCESS;
}

static int start_send(void *data, int peer, const cco_data *from)
{
    flight *f = data;
    cco_letter **end = &f->desk->office->first, *letter = malloc(sizeof *letter);
    if (letter == NULL)
        return MPI_ERR_NO_MEM;
    *letter = (cco_letter){f->desk->rank, peer, *from, &f->unsent, NULL};
    f->unsent++;
    while (*end != NULL)
        end = &(*end)->next;
    *end = letter;
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
static void look_for(flight *f, awaited *wanted)
{
    cco_office *office = f->desk->office;
    for (cco_letter **link = &office->first; *link != NULL; link = &(*link)->next) {
        cco_letter *letter = *link;
        if (letter->from != wanted->peer || letter->to != f->desk->rank)
            continue;
        if (cco_data_bytes(&letter->data) == cco_data_bytes(&wanted->data))
            move(&letter->data, &wanted->data);
        else
            office->mismatch = true;
        --*letter->unsent;
        wanted->peer = -1;
        *link = letter->next;
        free(letter);
        return;
    }
}

static int test(void *data, bool *done)
{
    flight *f = data;
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

static void abandon(void *data)
{
    flight *f = data;
    for (cco_letter **link = &f->desk->office->first; *link != NULL;) {
        cco_letter *letter = *link;
        if (letter->unsent == &f->unsent) {
            *link = letter->next;
            free(letter);
        } else {
            link = &letter->next;
        }
    }
    f->unsent = f->count = 0;
}

static int copy(void *flight, const cco_data *from, const cco_data *to)
{
    (void)flight;
    move(from, to);
    return MPI_SUCCESS;
}

static int reduce(void *data, const cco_data *from, const cco_data *into, const cco_operation *op)
{
    const flight *f = data;
    (void)op;
    for (size_t i = 0; i < into->count; i++)
        f->desk->office->reduce(from->at + (ptrdiff_t)i * from->layout->extent,
                                into->at + (ptrdiff_t)i * into->layout->extent, into->layout->size);
    return MPI_SUCCESS;
}

const cco_transport cco_transport_office = {
    .name = "office",
    .open = open_flight,
    .close = free,
    .begin = begin,
    .recv = start_recv,
    .send = start_send,
    .test = test,
    .abandon = abandon,
    .copy = copy,
    .reduce = reduce,
};
