/* SPDX-License-Identifier: BSD-3-Clause */
/* events.c - see events.h. */
#include "events.h"

#include <stdlib.h>

static int bucket_of(const events *e, uint64_t time)
{
    return time == e->now ? 0 : 64 - __builtin_clzll(time ^ e->now);
}

static void add(events *e, event_bucket *b, event one)
{
    if (b->count == b->room) {
        const size_t room = b->room == 0 ? 64 : 2 * b->room;
        event *list = realloc(b->list, room * sizeof *list);
        if (list == NULL) {
            e->no_memory = true;
            return;
        }
        b->list = list;
        b->room = room;
    }
    b->list[b->count++] = one;
}

void events_push(events *e, uint64_t time, uint32_t id)
{
    add(e, &e->buckets[bucket_of(e, time)], (event){time, id});
    e->count++;
}

static int first_bucket(const events *e)
{
    int i = 0;
    while (i < 64 && e->buckets[i].count == 0)
        i++;
    return i;
}

enum { SOON = 256, NEAR = 16 }; /* at most so many events are known at once */

static void tell(const events *e, const event_bucket *b)
{
    if (e->soon != NULL && b->count <= SOON)
        for (size_t k = 0; k < b->count; k++)
            e->soon(e->whose, b->list[k].id, b->count <= NEAR);
}

/* Makes the earliest time `now`, and sorts its bucket into those below. */
static void refill(events *e)
{
    const int i = first_bucket(e);
    event_bucket *b = &e->buckets[i];
    if (i == 0)
        return;
    tell(e, b);
    uint64_t least = UINT64_MAX;
    for (size_t k = 0; k < b->count; k++)
        least = b->list[k].time < least ? b->list[k].time : least;
    e->now = least;
    for (size_t k = 0; k < b->count; k++)
        add(e, &e->buckets[bucket_of(e, b->list[k].time)], b->list[k]);
    b->count = 0;
}

event events_take(events *e)
{
    refill(e);
    e->count--;
    return e->buckets[0].list[--e->buckets[0].count];
}

bool events_none_before(const events *e, uint64_t time)
{
    const int i = first_bucket(e);
    if (e->count == 0)
        return true;
    if (i == 0)
        return time <= e->now;
    const uint64_t low = (uint64_t)1 << (i - 1); /* times of this bucket have this bit of `now` */
    return time <= ((e->now | (low - 1)) ^ (low - 1) ^ low);
}

void events_free(events *e)
{
    for (int i = 0; i < 65; i++)
        free(e->buckets[i].list);
    *e = (events){.now = 0};
}
