/* SPDX-License-Identifier: BSD-3-Clause */
/* play.c - see play.h. */
#include "play.h"

#include <stdlib.h>

#include "events.h"
#include "match.h"
#include "pages.h"
#include "ready.h"

enum { A_MESSAGE = 1u << 31 }; /* in the number of an event: a message, else a rank */

/* Where a message is: the interfaces that it passes. */
typedef enum hop { NODE_OUT, GROUP_OUT, GROUP_IN, NODE_IN, HOPS } hop;

typedef struct message {
    double head, tail; /* when its first byte, and its last, leave where it was; its arrival */
    double n;
    uint32_t from, to;
    uint8_t hop;
    bool asks;    /* waits for its receiver to be ready */
    bool taken;   /* a receive has met it */
    bool arrived; /* ... and it waits for one */
} message;

typedef struct rank {
    double time;            /* from which on its processor is free */
    double posted;          /* when the receives of its round were */
    double gone;            /* when the sends of its round that waited for receivers were */
    double until;           /* when the computation beside the collective ends */
    const uint32_t *rounds; /* of the passage of its program; NULL between two */
    uint32_t passage, count, round, act; /* the passage; its rounds; next round, next act of it */
    uint32_t open;                       /* messages of its round that are not done */
    uint32_t arrivals;                   /* those that came in this round: a list */
    int phase : 31;
    bool waits : 1; /* for these, at the end of its round */
} rank;

typedef struct stage {
    play *p;
    rank *ranks;
    message *messages;
    uint32_t *next; /* of each message, in a list */
    uint32_t unused, made, room;
    matches matches;
    events events;
    ready ready; /* ranks that go on, where time does not order them */
    double *sorted;
    size_t sorted_room;
    double *out, *in, *group_out, *group_in; /* when an interface is free again */
    double *busy;
    bool failed;
    int done;
} stage;

static double later(double a, double b)
{
    return a > b ? a : b;
}

static nearness nearness_of(const play *p, uint32_t a, uint32_t b)
{
    const machine *m = p->machine;
    const int x = p->node[a], y = p->node[b];
    if (x != y)
        return m->group_nodes > 0 && x / m->group_nodes == y / m->group_nodes ? GROUP : NETWORK;
    const int c = m->cache_ranks;
    return c > 0 && p->place[a] / c == p->place[b] / c ? CACHE : NODE;
}

static const level *level_of(const stage *s, const message *m)
{
    return &s->p->machine->levels[nearness_of(s->p, m->from, m->to)];
}

static uint32_t new_message(stage *s)
{
    if (s->unused != NO_MESSAGE) {
        const uint32_t m = s->unused;
        s->unused = s->next[m];
        return m;
    }
    if (s->made == s->room) {
        const uint32_t room = s->room == 0 ? 4096 : 2 * s->room;
        message *messages = pages_resize(s->messages, room, sizeof *messages);
        s->messages = messages != NULL ? messages : s->messages;
        uint32_t *next = pages_resize(s->next, room, sizeof *next);
        s->next = next != NULL ? next : s->next;
        if (messages == NULL || next == NULL) {
            s->failed = true;
            return NO_MESSAGE;
        }
        s->room = room;
    }
    return s->made++;
}

/* Without queues the order of what happens makes no difference: every rank goes as far as it can.
 */
static void go_on_at(stage *s, uint32_t r)
{
    if (s->p->queues)
        events_push(&s->events, (uint64_t)s->ranks[r].time, r);
    else
        ready_push(&s->ready, r);
}

static int by_time(const void *a, const void *b)
{
    const double x = ((const double *)a)[0], y = ((const double *)b)[0];
    return x < y ? -1 : x > y;
}

static bool has_room(stage *s, size_t count)
{
    if (2 * count <= s->sorted_room)
        return true;
    double *larger = realloc(s->sorted, 4 * count * sizeof *larger);
    s->failed = s->failed || larger == NULL;
    if (larger == NULL)
        return false;
    s->sorted = larger;
    s->sorted_room = 4 * count;
    return true;
}

/* The rank takes what came in its round, in the order of arrival. */
static void take_arrivals(stage *s, rank *me)
{
    size_t count = 0;
    for (uint32_t m = me->arrivals; m != NO_MESSAGE;) {
        const message *one = &s->messages[m];
        const level *l = level_of(s, one);
        if (!has_room(s, count + 1))
            return;
        s->sorted[2 * count] = one->tail;
        s->sorted[2 * count++ + 1] = l->receive + one->n * l->receive_byte;
        const uint32_t next = s->next[m];
        s->next[m] = s->unused;
        s->unused = m;
        m = next;
    }
    if (count > 1)
        qsort(s->sorted, count, 2 * sizeof *s->sorted, by_time);
    for (size_t i = 0; i < count; i++) {
        me->time = me->time > s->sorted[2 * i] ? me->time : s->sorted[2 * i];
        me->time += s->sorted[2 * i + 1];
    }
    me->arrivals = NO_MESSAGE;
}

static void end_round(stage *s, rank *me)
{
    take_arrivals(s, me);
    me->time = me->time > me->gone ? me->time : me->gone;
    me->gone = 0;
    me->act = 0;
    if (++me->round == me->count)
        me->rounds = NULL;
}

/* One message of the round of a rank is done. */
static void close_one(stage *s, uint32_t r)
{
    rank *me = &s->ranks[r];
    if (--me->open > 0 || !me->waits)
        return;
    me->waits = false;
    end_round(s, me);
    go_on_at(s, r);
}

static void add_arrival(stage *s, uint32_t m)
{
    rank *to = &s->ranks[s->messages[m].to];
    s->next[m] = to->arrivals;
    to->arrivals = m;
}

/* All of a message is there. */
static void deliver(stage *s, uint32_t m)
{
    message *one = &s->messages[m];
    one->arrived = true;
    if (one->taken) {
        const uint32_t to = one->to;
        add_arrival(s, m);
        close_one(s, to);
    }
}

/* A message that waited for its receiver has left the sender. */
static void leave(stage *s, const message *m, double at)
{
    if (m->asks) {
        rank *from = &s->ranks[m->from];
        from->gone = later(from->gone, at);
        close_one(s, m->from);
    }
}

static void count_busy(stage *s, size_t interface, double time)
{
    s->busy[interface] += time;
    s->p->busiest = later(s->p->busiest, s->busy[interface]);
}

/* The message comes to an interface at `head`. */
static void pass(stage *s, uint32_t number, double *free_at, const level *l)
{
    message *m = &s->messages[number];
    const double start = later(m->head, *free_at), time = m->n * l->byte;
    *free_at = start + l->gap + time;
    m->head = start;
    m->tail = later(m->tail, start + time);
}

static void on_way(stage *s, uint32_t number, double latency, hop to)
{
    message *m = &s->messages[number];
    m->head += latency;
    m->tail += latency;
    m->hop = (uint8_t)to;
    events_push(&s->events, (uint64_t)m->head, number | A_MESSAGE);
}

static void hop_on(stage *s, uint32_t number)
{
    message *m = &s->messages[number];
    const play *p = s->p;
    const level *levels = p->machine->levels, *l = level_of(s, m);
    const size_t from = (size_t)p->node[m->from], to = (size_t)p->node[m->to];
    const size_t per_group = (size_t)(p->machine->group_nodes > 0 ? p->machine->group_nodes : 1);
    const bool grouped = p->machine->group_nodes > 0;
    const bool far = grouped && l == &levels[NETWORK];
    /* Where there are groups, the interface of a node is that of its level. */
    const level *node = grouped ? &levels[GROUP] : &levels[NETWORK];
    switch ((hop)m->hop) {
    case NODE_OUT:
        pass(s, number, &s->out[from], node);
        count_busy(s, from, node->gap + m->n * node->byte);
        leave(s, m, m->tail);
        on_way(s, number, far ? 0 : l->latency, far ? GROUP_OUT : NODE_IN);
        break;
    case GROUP_OUT:
        pass(s, number, &s->group_out[from / per_group], l);
        on_way(s, number, l->latency, GROUP_IN);
        break;
    case GROUP_IN:
        pass(s, number, &s->group_in[to / per_group], l);
        on_way(s, number, 0, NODE_IN);
        break;
    default:
        pass(s, number, &s->in[to], node);
        deliver(s, number);
    }
}

/* The bytes leave the sender at `head`. */
static void start_message(stage *s, uint32_t number)
{
    message *m = &s->messages[number];
    const level *l = level_of(s, m);
    if (s->p->queues && s->p->node[m->from] != s->p->node[m->to]) {
        m->hop = NODE_OUT;
        m->tail = m->head;
        /* One that waited starts later than the rank's own time, which may send others before. */
        if (!m->asks && events_none_before(&s->events, (uint64_t)m->head))
            hop_on(s, number);
        else
            events_push(&s->events, (uint64_t)m->head, number | A_MESSAGE);
        return;
    }
    m->tail = m->head + m->n * l->byte;
    leave(s, m, m->tail);
    m->tail += l->latency;
    deliver(s, number);
}

static void count_message(play *p, const message *m)
{
    const bool between = p->node[m->from] != p->node[m->to];
    p->messages++;
    p->bytes += (uint64_t)m->n;
    p->messages_between += between;
    p->bytes_between += between ? (uint64_t)m->n : 0;
}

/* The receiver is ready from `posted` on, and has been asked at `asked`. */
static void grant(stage *s, uint32_t number, double asked, double posted)
{
    message *m = &s->messages[number];
    m->head = later(asked, posted) + level_of(s, m)->latency;
    start_message(s, number);
}

static void send(stage *s, uint32_t r, int peer, double n)
{
    rank *me = &s->ranks[r];
    const uint32_t number = new_message(s), to = (uint32_t)peer;
    if (number == NO_MESSAGE)
        return;
    message *m = &s->messages[number];
    *m = (message){.n = n, .from = r, .to = to};
    const level *l = level_of(s, m);
    me->time += l->send + n * l->send_byte;
    m->head = me->time;
    m->asks = n > l->eager;
    count_message(s->p, m);
    me->open += m->asks;
    m->taken = match_message(&s->matches, to, r, number, s->next);
    if (!m->asks)
        start_message(s, number);
    else if (m->taken)
        grant(s, number, me->time + l->latency, s->ranks[to].posted);
}

static void receive(stage *s, uint32_t r, int peer)
{
    rank *me = &s->ranks[r];
    me->posted = me->time;
    const uint32_t number = match_receive(&s->matches, r, (uint32_t)peer, s->next);
    if (number == NO_MESSAGE) {
        me->open++;
        return;
    }
    message *m = &s->messages[number];
    m->taken = true;
    if (m->arrived) {
        add_arrival(s, number);
        return;
    }
    me->open++;
    if (m->asks) /* its sender has waited since it asked */
        grant(s, number, m->head + level_of(s, m)->latency, me->time);
}

/* What a rank does by itself. */
static void work(const stage *s, rank *me, const act *a)
{
    const machine *m = s->p->machine;
    const local_cost *cost = a->kind == ACT_COPY ? &m->copy : &m->reduce;
    me->time += a->peer * cost->each + act_bytes(a) * cost->byte;
}

/* True if the rank may go on at once, though its time has moved on. */
static bool is_next(const stage *s, uint32_t r)
{
    return !s->p->queues || events_none_before(&s->events, (uint64_t)s->ranks[r].time);
}

/* Performs what is left of a round of a collective; false if the rank has to wait: for messages, or
 * until what is earlier has happened. */
static bool perform(stage *s, uint32_t r, const phase *f, uint32_t number)
{
    rank *me = &s->ranks[r];
    uint32_t count, how;
    const act *acts = round_acts(s->p->programs, number, &count, &how);
    const int place = phase_place(f, (int)r), first = phase_first(f, (int)r);
    while (me->act < count && !s->failed) {
        const act *a = &acts[me->act++];
        if (a->kind > ACT_RECEIVE) {
            work(s, me, a);
        } else {
            const int peer = first + act_peer(a->peer, how, place, f->size) * f->stride;
            if (a->kind == ACT_RECEIVE) {
                receive(s, r, peer);
                continue;
            }
            send(s, r, peer, act_bytes(a));
        }
        if (!is_next(s, r)) {
            go_on_at(s, r);
            return false;
        }
    }
    me->time += s->p->machine->round;
    if (f->alone && me->passage == 1 && me->round == 0)
        me->time = later(me->time, me->until);
    me->waits = me->open > 0;
    if (!me->waits)
        end_round(s, me);
    return !me->waits;
}

/* The next rounds of a rank; false at the end of its phase. */
static bool next_passage(const play *p, uint32_t r, rank *me)
{
    const phase *f = &p->phases[me->phase];
    if (me->passage == 0) {
        me->time += f->compute;
        me->until = me->time + f->overlap;
    }
    me->rounds = NULL;
    me->round = 0;
    if (f->size > 0)
        me->rounds = program_passage(p->programs, phase_program(f, (int)r), me->passage++,
                                     &me->count);
    return me->rounds != NULL;
}

static void end_phase(const play *p, uint32_t r, rank *me)
{
    me->time = later(me->time, me->until);
    me->passage = 0;
    p->end[(size_t)me->phase++ * (size_t)p->ranks + r] = me->time;
}

/* A rank goes on from its time. */
static void go_on(stage *s, uint32_t r)
{
    rank *me = &s->ranks[r];
    const play *p = s->p;
    while (me->phase < p->phase_count && !s->failed) {
        if (me->rounds == NULL && !next_passage(p, r, me)) {
            end_phase(p, r, me);
            continue;
        }
        if (!is_next(s, r)) {
            go_on_at(s, r);
            return;
        }
        if (!perform(s, r, &p->phases[me->phase], me->rounds[me->round]))
            return;
    }
    if (me->phase == p->phase_count)
        s->done++;
}

static bool begin(stage *s, play *p)
{
    const size_t n = (size_t)p->ranks, nodes = (size_t)p->nodes;
    *s = (stage){.p = p, .unused = NO_MESSAGE};
    s->ranks = pages_resize(NULL, n, sizeof *s->ranks);
    s->out = calloc(5 * nodes, sizeof *s->out);
    if (s->ranks == NULL || s->out == NULL || !matches_begin(&s->matches) ||
        !ready_begin(&s->ready, p->ranks))
        return false;
    s->in = s->out + nodes;
    s->group_out = s->in + nodes;
    s->group_in = s->group_out + nodes;
    s->busy = s->group_in + nodes;
    for (uint32_t r = 0; r < n; r++) {
        s->ranks[r] = (rank){.arrivals = NO_MESSAGE};
        s->ranks[r].time = p->start != NULL ? p->start[r] : 0;
        go_on_at(s, r);
    }
    return true;
}

/* What is to happen soon is fetched into the caches: where the rank or message is, then where it
 * points to. */
static void fetch(const stage *s, uint32_t id, bool all)
{
    if (id & A_MESSAGE) {
        const message *m = &s->messages[id & ~(uint32_t)A_MESSAGE];
        __builtin_prefetch(all ? (const void *)&s->ranks[m->to] : m);
    } else {
        const rank *r = &s->ranks[id];
        __builtin_prefetch(all && r->rounds != NULL ? (const void *)(r->rounds + r->round) : r);
    }
}

enum { SOON = 4, LATER = 8 };

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
            hop_on(s, e.id & ~(uint32_t)A_MESSAGE);
        else
            go_on(s, e.id);
        s->failed = s->failed || s->events.no_memory || s->matches.no_memory;
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
        s->failed = s->failed || s->matches.no_memory;
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
        if (!s.failed && !fine)
            p->why = "ranks wait for each other for ever";
    }
    free(s.ranks);
    free(s.out);
    free(s.messages);
    free(s.next);
    free(s.sorted);
    matches_free(&s.matches);
    events_free(&s.events);
    ready_free(&s.ready);
    return fine;
}
