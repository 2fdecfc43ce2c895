/* SPDX-License-Identifier: BSD-3-Clause */
/* play.h - runs the programs of all ranks on a machine: time only, no data.
 *
 * As the engine does (src/sched/engine.c), a rank begins all messages of a round, does its own
 * work, and waits for the messages.  There are no more ranks than cores.  Messages that go on while
 * a rank computes take none of its processor's time: a thread on a core of its own drives them. */
#ifndef SIMULATE_PLAY_H
#define SIMULATE_PLAY_H

#include "machine.h"
#include "program.h"

/* What all ranks do next: compute, or a collective on each communicator.  There, `size` ranks with
 * a distance of `stride` are a communicator, and so all of them: rows and columns of a grid. */
typedef struct phase {
    double compute;   /* picoseconds */
    double overlap;   /* of computation between the begin of the collective and its end */
    bool alone;       /* it drives no messages: after the first round they wait for its end */
    int size, stride; /* 0: no collective */
    const uint32_t *program; /* of each place of each sort of communicator */
    const uint32_t *sort;    /* of each communicator, in the order of first ranks; NULL: one */
} phase;

typedef struct play {
    const machine *machine;
    const programs *programs;
    const phase *phases;
    int phase_count, ranks;
    const int *node, *place; /* of each rank, and its place in the node */
    int nodes;
    bool queues;         /* interfaces carry one message after the other; otherwise all at once */
    const double *start; /* of each rank, picoseconds; NULL: 0 */
    size_t records;      /* messages beyond these are kept small once they are there: aside.h */
    double *end;         /* of each rank and phase, filled in */
    uint64_t messages, bytes, messages_between, bytes_between; /* nodes */
    double busiest; /* since the last rank began, the interface used most carried so long one way */
    const char *why; /* what went wrong */
} play;

/* False, and `why`, when memory runs out, or ranks wait for each other for ever. */
bool play_run(play *p);

/* What a message between two ranks costs: the level of the machine. */
static inline int level_between(const play *p, int a, int b)
{
    const machine *m = p->machine;
    const int x = p->node[a], y = p->node[b], c = m->cache_ranks, g = m->group_nodes;
    if (x != y)
        return g > 0 && x / g == y / g ? GROUP : NETWORK;
    return c > 0 && p->place[a] / c == p->place[b] / c ? CACHE : NODE;
}

/* How long copies or reductions of a round take. */
static inline double local_time(const machine *m, const act *a)
{
    const local_cost *cost = a->kind == ACT_COPY ? &m->copy : &m->reduce;
    return a->peer * cost->each + act_bytes(a) * cost->byte;
}

/* First rank of the communicator of a rank in a phase, and the place of the rank there. */
static inline int phase_first(const phase *f, int rank)
{
    return rank / (f->size * f->stride) * f->size * f->stride + rank % f->stride;
}

static inline int phase_place(const phase *f, int rank)
{
    return rank / f->stride % f->size;
}

/* The program of a rank. */
static inline uint32_t phase_program(const phase *f, int rank)
{
    const int whole = f->size * f->stride;
    const int number = rank / whole * f->stride + rank % f->stride;
    const uint32_t sort = f->sort != NULL ? f->sort[number] : 0;
    return f->program[(size_t)sort * (size_t)f->size + (size_t)phase_place(f, rank)];
}

#endif
