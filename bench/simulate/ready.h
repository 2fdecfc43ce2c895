/* SPDX-License-Identifier: BSD-3-Clause */
/* ready.h - the ranks that go on, first in, first out; a rank is there once at most. */
#ifndef SIMULATE_READY_H
#define SIMULATE_READY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

typedef struct ready {
    uint32_t *list;
    uint32_t room, first, count;
} ready;

static inline bool ready_begin(ready *q, int ranks)
{
    *q = (ready){.room = (uint32_t)ranks};
    q->list = malloc(q->room * sizeof *q->list);
    return q->list != NULL;
}

static inline void ready_push(ready *q, uint32_t rank)
{
    q->list[(q->first + q->count++) % q->room] = rank;
}

static inline uint32_t ready_take(ready *q)
{
    const uint32_t rank = q->list[q->first];
    q->first = (q->first + 1) % q->room;
    q->count--;
    return rank;
}

/* The i-th of those that wait. */
static inline uint32_t ready_at(const ready *q, uint32_t i)
{
    return q->list[(q->first + i) % q->room];
}

static inline void ready_free(ready *q)
{
    free(q->list);
}

#endif
