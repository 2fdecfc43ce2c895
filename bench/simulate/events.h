/* SPDX-License-Identifier: BSD-3-Clause */
/* events.h - what happens when: a radix heap, whose smallest time never falls.
 *
 * R. K. Ahuja, K. Mehlhorn, J. B. Orlin, R. E. Tarjan: Faster algorithms for the shortest path
 * problem, J. ACM 37 (1990).  Events of one time come in an order that only their number and the
 * order of pushing decide. */
#ifndef SIMULATE_EVENTS_H
#define SIMULATE_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct event {
    uint64_t time;
    uint32_t id;
} event;

typedef struct event_bucket {
    event *list;
    size_t count, room;
} event_bucket;

typedef struct events {
    uint64_t now; /* of the last one taken: no later one is earlier */
    size_t count;
    event_bucket buckets[65]; /* by the highest bit in which a time differs from `now` */
    bool no_memory;           /* sticks: what was pushed since then is lost */
    /* Told of events that come soon, if there is one: `near` of those that come sooner. */
    void (*soon)(const void *whose, uint32_t id, bool near);
    const void *whose;
} events;

/* `time` is at least that of the last one taken. */
void events_push(events *e, uint64_t time, uint32_t id);

/* The earliest; there is one. */
event events_take(events *e);

/* True if nothing is to happen before `time`.  False says nothing. */
bool events_none_before(const events *e, uint64_t time);

void events_free(events *e);

#endif
