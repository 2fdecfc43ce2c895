/* SPDX-License-Identifier: BSD-3-Clause */
/* trace.c - see trace.h. */
#include "trace.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "../asked.h"

enum { ENVELOPE = 16 }; /* bytes that SMPI adds to each message */

static const double second = 1e12;

/* A rank whose trace is being written. */
typedef struct writer {
    const play *play;
    trace *trace;
    FILE *file;
    int rank, first, place; /* its number; first rank of its communicator, its place there */
    const phase *phase;
    double sleep; /* what is not written yet of the time in which it does something itself */
} writer;

static void put_sleep(writer *w)
{
    if (w->sleep > 0)
        fprintf(w->file, "%d sleep %.15g\n", w->rank, w->sleep / second);
    w->sleep = 0;
}

/* The bytes of a message there; -1 if SMPI's numbers are too small for them. */
static long long bytes_there(const writer *w, const level *l, double n, bool between)
{
    const double time = n * l->byte + (between && w->play->queues ? l->gap : 0);
    const double bytes = time / second * w->trace->bandwidth - ENVELOPE;
    if (bytes > INT_MAX - ENVELOPE) {
        asked_wrong("a message of %.0f bytes is too large for SMPI", n);
        return -1;
    }
    return bytes > 0 ? (long long)(bytes + 0.5) : 0;
}

/* Which messages wait is one limit there, for all levels. */
static void note_limit(trace *t, long long bytes, bool waits, bool between)
{
    if (!waits) {
        t->eager = bytes > t->eager ? bytes : t->eager;
        return;
    }
    t->waiting = t->waiting < 0 || bytes < t->waiting ? bytes : t->waiting;
    t->waiting_in_a_node = t->waiting_in_a_node || !between;
}

/* A send, with its overhead before it, or a receive. */
static bool put_message(writer *w, const act *a, uint32_t how)
{
    const int peer = w->first + act_peer(a->peer, how, w->place, w->phase->size) * w->phase->stride;
    const bool between = w->play->node[w->rank] != w->play->node[peer];
    const level *l = &w->play->machine->levels[level_between(w->play, w->rank, peer)];
    const double n = act_bytes(a);
    const long long bytes = bytes_there(w, l, n, between);
    if (bytes < 0)
        return false;
    if (a->kind == ACT_SEND) {
        note_limit(w->trace, bytes, n > l->eager, between);
        w->sleep += l->send + n * l->send_byte;
    }
    put_sleep(w);
    fprintf(w->file, "%d %s %d 0 %lld\n", w->rank, a->kind == ACT_SEND ? "isend" : "irecv", peer,
            bytes);
    return true;
}

/* Waits for the receives of a round, each with its overhead behind it, or for the sends. */
static void put_waits(writer *w, const acts *all, act_kind kind)
{
    for (uint32_t i = 0; i < all->count; i++) {
        const act a = acts_at(all, i);
        if (a.kind != kind)
            continue;
        const int peer = w->first +
                         act_peer(a.peer, all->how, w->place, w->phase->size) * w->phase->stride;
        const level *l = &w->play->machine->levels[level_between(w->play, w->rank, peer)];
        put_sleep(w);
        if (kind == ACT_SEND) {
            fprintf(w->file, "%d wait %d %d 0\n", w->rank, w->rank, peer);
        } else {
            fprintf(w->file, "%d wait %d %d 0\n", w->rank, peer, w->rank);
            w->sleep += l->receive + act_bytes(&a) * l->receive_byte;
        }
    }
}

/* In the order of play.c: sends, receives, what the rank does itself, waits. */
static bool put_round(writer *w, uint32_t number)
{
    const machine *m = w->play->machine;
    const acts all = acts_of(w->play->programs, number);
    double work = m->round;
    for (uint32_t i = 0; i < all.count; i++) {
        const act a = acts_at(&all, i);
        if (a.kind > ACT_RECEIVE)
            work += local_time(m, &a);
        else if (!put_message(w, &a, all.how))
            return false;
    }
    w->sleep += work;
    put_waits(w, &all, ACT_RECEIVE);
    put_waits(w, &all, ACT_SEND);
    return true;
}

static bool put_phase(writer *w, const phase *f)
{
    const programs *all = w->play->programs;
    w->sleep += f->compute;
    if (f->size == 0)
        return true;
    w->phase = f;
    w->first = phase_first(f, w->rank);
    w->place = phase_place(f, w->rank);
    const uint32_t program = phase_program(f, w->rank), *rounds;
    uint32_t count;
    for (uint32_t i = 0; (rounds = program_passage(all, program, i, &count)) != NULL; i++)
        for (uint32_t k = 0; k < count; k++)
            if (!put_round(w, rounds[k]))
                return false;
    return true;
}

static bool put_rank(const play *p, trace *t, int rank)
{
    char name[32];
    snprintf(name, sizeof name, "rank%d.txt", rank);
    writer w = {.play = p,
                .trace = t,
                .file = fopen(name, "w"),
                .rank = rank,
                .sleep = p->start != NULL ? p->start[rank] : 0};
    if (w.file == NULL)
        return asked_wrong("cannot write %s", name);
    fprintf(w.file, "%d init\n", rank);
    bool fine = true;
    for (int i = 0; i < p->phase_count && fine; i++)
        fine = put_phase(&w, &p->phases[i]);
    put_sleep(&w);
    fprintf(w.file, "%d finalize\n", rank);
    const bool written = !ferror(w.file);
    if ((fclose(w.file) != 0 || !written) && fine)
        return asked_wrong("cannot write %s", name);
    return fine;
}

/* What has no counterpart there. */
static bool is_possible(const play *p)
{
    for (int i = 0; i < p->phase_count; i++)
        if (p->phases[i].overlap > 0)
            return asked_wrong("SMPI's traces have no computation beside a collective");
    if (p->machine->cache_ranks > 0 || p->machine->group_nodes > 0)
        return asked_wrong("for SMPI a machine has the levels node and network only");
    return true;
}

bool trace_write(const play *p, trace *t)
{
    t->eager = t->waiting = -1;
    t->waiting_in_a_node = false;
    bool fine = is_possible(p);
    for (int r = 0; r < p->ranks && fine; r++)
        fine = put_rank(p, t, r);
    if (fine && t->waiting >= 0 && t->waiting <= t->eager)
        return asked_wrong("SMPI has one limit of what waits for its receiver; this machine needs "
                           "one for each level");
    return fine;
}
