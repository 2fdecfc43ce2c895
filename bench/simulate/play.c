/* SPDX-License-Identifier: BSD-3-Clause */
/* play.c - see play.h. */
#include <stdlib.h>

#include "pages.h"
#include "transit.h"

/* True if the rank may go on at once, though its time has moved on. */
static bool is_next(stage *s, uint32_t r)
{
    return !s->p->queues || events_none_before(&s->events, stage_time(s, s->ranks[r].time));
}

/* Performs what is left of a round of a collective; false if the rank has to wait: for messages, or
 * until what is earlier has happened. */
static bool perform(stage *s, uint32_t r, const phase *f, uint32_t number)
{
    rank *me = &s->ranks[r];
    const acts all = acts_of(s->p->programs, number);
    const int place = phase_place(f, (int)r), first = phase_first(f, (int)r);
    while (me->act < all.count && !s->failed) {
        const act a = acts_at(&all, me->act++);
        if (a.kind > ACT_RECEIVE) {
            me->time += local_time(s->p->machine, &a);
        } else {
            const int peer = first + act_peer(a.peer, all.how, place, f->size) * f->stride;
            if (a.kind == ACT_RECEIVE) {
                transit_receive(s, r, peer);
                continue;
            }
            transit_send(s, r, peer, act_bytes(&a));
        }
        if (!is_next(s, r)) {
            stage_go_on_at(s, r);
            return false;
        }
    }
    me->time += s->p->machine->round;
    if (f->alone && me->passage == 1 && me->round == 0)
        me->time = later(me->time, s->until[r]);
    me->waits = me->open > 0;
    if (!me->waits)
        stage_end_round(s, me);
    return !me->waits;
}

/* The next rounds of a rank; false at the end of its phase. */
static bool next_passage(stage *s, uint32_t r, rank *me)
{
    const play *p = s->p;
    const phase *f = &p->phases[me->phase];
    if (me->passage == 0) {
        me->time += f->compute;
        s->until[r] = me->time + f->overlap;
    }
    me->rounds = NULL;
    me->round = 0;
    if (f->size > 0)
        me->rounds = program_passage(p->programs, phase_program(f, (int)r), me->passage++,
                                     &me->count);
    return me->rounds != NULL;
}

static void end_phase(stage *s, uint32_t r, rank *me)
{
    play *p = s->p;
    me->time = later(me->time, s->until[r]);
    stage_time(s, me->time); /* without queues nothing else looks at it */
    me->passage = 0;
    p->end[(size_t)me->phase++ * (size_t)p->ranks + r] = me->time;
}

/* A rank goes on from its time. */
static void go_on(stage *s, uint32_t r)
{
    rank *me = &s->ranks[r];
    const play *p = s->p;
    while (me->phase < p->phase_count && !s->failed) {
        if (me->rounds == NULL && !next_passage(s, r, me)) {
            end_phase(s, r, me);
            continue;
        }
        if (!is_next(s, r)) {
            stage_go_on_at(s, r);
            return;
        }
        if (!perform(s, r, &p->phases[me->phase], me->rounds[me->round]))
            return;
    }
    if (me->phase == p->phase_count)
        s->done++;
}

/* What is to happen soon is fetched into the caches: where the rank or message is, then where it
 * points to. */
static void fetch(const void *whose, uint32_t id, bool all)
{
    const stage *s = whose;
    if (id & A_MESSAGE) {
        const message *m = &s->messages[id & ~(uint32_t)A_MESSAGE];
        __builtin_prefetch(all ? (const void *)&s->ranks[m->to] : m);
    } else {
        const rank *r = &s->ranks[id];
        __builtin_prefetch(all && r->rounds != NULL ? (const void *)(r->rounds + r->round) : r);
    }
}

static bool begin(stage *s, play *p)
{
    const size_t n = (size_t)p->ranks, nodes = (size_t)p->nodes;
    *s = (stage){.p = p, .unused = NO_MESSAGE, .events = {.soon = fetch, .whose = s}};
    aside_begin(&s->aside, (uint32_t)n);
    s->ranks = pages_new(n, sizeof *s->ranks);
    s->until = calloc(n, sizeof *s->until);
    s->out = calloc(4 * nodes, sizeof *s->out);
    if (s->ranks == NULL || s->until == NULL || s->out == NULL || !matches_begin(&s->matches) ||
        !ready_begin(&s->ready, p->ranks))
        return false;
    s->in = s->out + nodes;
    s->group_out = s->in + nodes;
    s->group_in = s->group_out + nodes;
    for (uint32_t r = 0; r < n; r++) {
        s->ranks[r] = (rank){.arrivals = NO_MESSAGE};
        s->ranks[r].time = p->start != NULL ? p->start[r] : 0;
        s->begun = later(s->begun, s->ranks[r].time);
        stage_go_on_at(s, r);
    }
    return true;
}

enum { SOON = 4, LATER = 8 };

static bool has_no_memory(const stage *s)
{
    return s->matches.no_memory || s->aside.no_memory;
}

static void run_in_time(stage *s)
{
    const event_bucket *next = &s->events.buckets[0];
    while (s->events.count > 0 && !s->failed) {
        const event e = events_take(&s->events);
        if (next->count > LATER) {
            fetch(s, next->list[next->count - LATER].id, false);
            fetch(s, next->list[next->count - SOON].id, true);
        }
        if (e.id & A_MESSAGE)
            transit_hop(s, e.id & ~(uint32_t)A_MESSAGE);
        else
            go_on(s, e.id);
        s->failed = s->failed || s->events.no_memory || has_no_memory(s);
    }
}

static void run_in_any_order(stage *s)
{
    while (s->ready.count > 0 && !s->failed) {
        const uint32_t r = ready_take(&s->ready);
        if (s->ready.count > LATER) {
            fetch(s, ready_at(&s->ready, LATER), false);
            fetch(s, ready_at(&s->ready, SOON), true);
        }
        go_on(s, r);
        s->failed = s->failed || has_no_memory(s);
    }
}

bool play_run(play *p)
{
    stage s;
    p->why = "no memory";
    bool fine = begin(&s, p);
    if (fine) {
        if (p->queues)
            run_in_time(&s);
        else
            run_in_any_order(&s);
        fine = !s.failed && s.done == p->ranks;
        if (s.too_late)
            p->why = "times beyond 100 days";
        if (!s.failed && !fine)
            p->why = "ranks wait for each other for ever";
    }
    free(s.ranks);
    free(s.until);
    free(s.out);
    free(s.messages);
    free(s.next);
    free(s.sorted);
    matches_free(&s.matches);
    aside_free(&s.aside);
    events_free(&s.events);
    ready_free(&s.ready);
    return fine;
}
