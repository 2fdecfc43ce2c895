/* SPDX-License-Identifier: BSD-3-Clause */
/* distance.c - see distance.h.
 *
 * The last rank asks, the first answers: an exchange of two lines, or one after which data come.
 * The asking rank alone looks at the clock, and so decides when the other one may stop. */
#include "transport/shm/distance.h"

#include "transport/shm/lost.h"

#include <string.h>
#include <time.h>

enum {
    LINE_PAIR = 128,     /* bytes: processors like to fetch the neighbor of a line */
    BATCHES = 16,        /* of exchanges */
    EXCHANGES = 32,      /* in each */
    LINES_END = 500000,  /* ns from the start for all of them */
    COPIES = 24,         /* each way */
    COPIES_END = 1800000 /* ns from the start */
};

typedef enum request { LINE, SLOT, KERNEL, END, REQUESTS } request;

/* What a rank has in the shared memory. */
typedef struct place {
    _Alignas(CCO_SLOT_LINE) uint64_t number; /* of what it asks, times REQUESTS, and the request; or
                                        of what it answers */
    uint64_t data;                           /* where its data are */
    char rest[LINE_PAIR - 2 * sizeof(uint64_t)];
} place;

/* One of the two ranks. */
typedef struct side {
    cco_slot_ring *ring;
    cco_pull *pull;
    place *mine, *other;
    int peer;
    uint64_t number, piece;
} side;

size_t cco_distance_share(void)
{
    return sizeof(place);
}

void cco_distance_open(char *mine)
{
    memset(mine, 0, sizeof(place));
}

static uint64_t distance_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Waits until the other rank's number is at least `least`; gives it. */
static uint64_t distance_await(const side *s, uint64_t least)
{
    uint64_t number;
    for (int tries = CCO_PAUSE_MEMORY;
         (number = __atomic_load_n(&s->other->number, __ATOMIC_ACQUIRE)) < least;) {
        cco_pull_serve(s->pull);
        cco_pause(&tries);
        if (!s->ring->over && cco_lost_gone(s->ring, s->peer, tries) &&
            __atomic_load_n(&s->other->number, __ATOMIC_ACQUIRE) < least)
            cco_lost_give_up(s->ring, s->peer);
        if (s->ring->over)
            return least + END; /* which ends it, whoever waits */
    }
    return number;
}

/* Asks, and waits for the answer. */
static void distance_ask(side *s, request what)
{
    s->number++;
    __atomic_store_n(&s->mine->number, s->number * REQUESTS + what, __ATOMIC_RELEASE);
    distance_await(s, s->number);
}

/* By both kinds of stores in turn; the faster ones count. */
static void distance_write_slot(char *slot, const char *data, uint64_t piece)
{
    if (piece % CCO_WRITES == CCO_WRITE_CACHED)
        memcpy(slot, data, CCO_DISTANCE_BYTES);
    else
        cco_copy_nontemporal(slot, data, CCO_DISTANCE_BYTES);
}

static void distance_answer(side *s)
{
    char *data = s->pull->scratch;
    request what;
    s->number = s->mine->number; /* where both ended before */
    s->mine->data = (uint64_t)(uintptr_t)data;
    do {
        s->number++;
        what = (request)(distance_await(s, s->number * REQUESTS) % REQUESTS);
        if (what == SLOT || what == KERNEL)
            memset(data, (int)s->number, CCO_DISTANCE_BYTES);
        __atomic_store_n(&s->mine->number, s->number, __ATOMIC_RELEASE);
        if (what == SLOT) {
            distance_write_slot(cco_slot_ring_reserve(s->ring, s->piece, s->peer), data, s->piece);
            cco_slot_ring_publish(s->ring, s->piece++, 0);
        }
    } while (what != END);
}

static uint64_t distance_less(uint64_t so_far, uint64_t ns)
{
    return so_far == 0 || ns < so_far ? ns : so_far;
}

static uint64_t exchange_lines(side *s, uint64_t start)
{
    uint64_t least = 0, at = distance_now();
    for (int i = 0; i < BATCHES && at - start < LINES_END; i++) {
        for (int k = 0; k < EXCHANGES; k++)
            distance_ask(s, LINE);
        const uint64_t end = distance_now();
        least = distance_less(least, (end - at) / (2 * EXCHANGES));
        at = end;
    }
    return least;
}

/* The time for one copy, from when the other rank has its data ready. */
static uint64_t distance_copy(side *s, request how)
{
    char *to = s->pull->scratch;
    distance_ask(s, how);
    const uint64_t start = distance_now();
    if (how == SLOT) {
        memcpy(to, cco_slot_ring_read(s->ring, s->peer, s->piece), CCO_DISTANCE_BYTES);
        cco_slot_ring_release(s->ring, s->piece++);
    } else {
        const char *from = (const char *)(uintptr_t)s->other->data;
        cco_pull_read(s->pull, s->peer, from, to, CCO_DISTANCE_BYTES);
    }
    return distance_now() - start;
}

/* Zeros unless all of it was seen. */
static cco_distance distance_look(side *s)
{
    const uint64_t start = distance_now();
    s->number = s->mine->number / REQUESTS;
    const uint64_t line = exchange_lines(s, start);
    uint64_t slots = 0, kernel = 0;
    for (int i = 0; i < COPIES && distance_now() - start < COPIES_END; i++) {
        slots = distance_less(slots, distance_copy(s, SLOT));
        kernel = distance_less(kernel, distance_copy(s, KERNEL));
    }
    distance_ask(s, END);
    if (line == 0 || slots == 0 || kernel == 0 || line > CCO_DISTANCE_MOST ||
        slots > CCO_DISTANCE_MOST || kernel > CCO_DISTANCE_MOST)
        return (cco_distance){0, 0, 0};
    return (cco_distance){(unsigned)line, (unsigned)slots, (unsigned)kernel};
}

cco_distance cco_distance_measure(cco_slot_ring *ring, cco_pull *pull, char *memory)
{
    const int last = pull->size - 1;
    cco_distance found = {0, 0, 0};
    side s = {.ring = ring,
              .pull = pull,
              .mine = (place *)(void *)(memory + (size_t)pull->rank * pull->share),
              .peer = pull->rank == 0 ? last : 0};
    s.other = (place *)(void *)(memory + (size_t)s.peer * pull->share);
    cco_slot_ring_begin(ring, (cco_slot_rounds){0, false});
    if (last > 0 && pull->rank == 0)
        distance_answer(&s);
    else if (last > 0 && pull->rank == last)
        found = distance_look(&s);
    cco_slot_ring_end(ring);
    return found;
}
