/* SPDX-License-Identifier: BSD-3-Clause */
/* stage.h - a running simulation: ranks, messages, and what is to happen. */
#ifndef SIMULATE_STAGE_H
#define SIMULATE_STAGE_H

#include "aside.h"
#include "events.h"
#include "match.h"
#include "play.h"
#include "ready.h"

enum { A_MESSAGE = 1u << 31 }; /* in the number of an event: a message, else a rank */

/* Where a message is: the interfaces that it passes. */
typedef enum hop { NODE_OUT, GROUP_OUT, GROUP_IN, NODE_IN, HOPS } hop;

typedef struct message {
    double head, tail; /* when its first byte, and its last, leave where it was; its arrival */
    double n;
    uint32_t from, to;
    uint32_t out, in; /* their nodes */
    uint8_t hop, level;
    bool asks;    /* waits for its receiver to be ready */
    bool taken;   /* a receive has met it */
    bool arrived; /* all of it is there */
} message;

/* As large as a line of the caches. */
typedef struct rank {
    double time;            /* from which on its processor is free */
    double posted;          /* when the receives of its round were */
    double gone;            /* when the sends of its round that waited for receivers were */
    const uint32_t *rounds; /* of the passage of its program; NULL between two */
    uint32_t passage, count, round, act; /* the passage; its rounds; next round, next act of it */
    uint32_t open;                       /* messages of its round that are not done */
    uint32_t arrivals;                   /* those that came in this round: a list */
    int phase : 31;
    bool waits : 1; /* for these, at the end of its round */
} rank;

/* An interface of a node, or the link of a group, one way. */
typedef struct interface {
    double free_at; /* again */
    double busy;    /* so long since the last rank began, but for the gap after the last message */
} interface;

typedef struct stage {
    play *p;
    rank *ranks;
    double *until; /* of each rank, when the computation beside its collective ends */
    message *messages;
    uint32_t *next; /* of each message, in a list */
    uint32_t unused, made, room, used;
    matches matches;
    aside aside;
    events events;
    ready ready; /* ranks that go on, where time does not order them */
    double *sorted;
    size_t sorted_room;
    interface *out, *in, *group_out, *group_in;
    double begun; /* when the last rank begins */
    bool failed;
    bool too_late; /* ... since a time passed 2^63 picoseconds */
    int done;
} stage;

/* A rank goes on at its time. */
void stage_go_on_at(stage *s, uint32_t r);

/* A message has come to the rank that waits for it.  It may be kept in another way from then on:
 * its number is no more valid. */
void stage_add_arrival(stage *s, uint32_t m);

/* A message is not needed any more. */
static inline void stage_drop_message(stage *s, uint32_t m)
{
    s->next[m] = s->unused;
    s->unused = m;
    s->used--;
}

/* Whether a message that is there should be kept small. */
static inline bool stage_is_full(const stage *s)
{
    return s->used > s->p->records;
}

/* One message of the round of a rank is done. */
void stage_close_one(stage *s, uint32_t r);

/* The rank takes what came in its round, in the order of arrival, and its round is over. */
void stage_end_round(stage *s, rank *me);

static inline const level *stage_level(const stage *s, const message *m)
{
    return &s->p->machine->levels[m->level];
}

static inline double later(double a, double b)
{
    return a > b ? a : b;
}

/* A time in whole picoseconds; what comes later than 2^63 of them ends the simulation. */
static inline uint64_t stage_time(stage *s, double time)
{
    const double times = 9223372036854775808.0;
    if (time < times)
        return (uint64_t)time;
    s->failed = s->too_late = true;
    return (uint64_t)1 << 63;
}

#endif
