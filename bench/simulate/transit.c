/* SPDX-License-Identifier: BSD-3-Clause */
/* transit.c - see transit.h. */
#include "transit.h"

#include "pages.h"

static uint32_t new_message(stage *s)
{
    s->used++;
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

/* Nobody waits yet for a message that is there.  The first one of several between two ranks is met
 * first, so that only one with none before it may be put aside. */
static void put_aside(stage *s, uint32_t m)
{
    const message *one = &s->messages[m];
    if (one->n > UINT32_MAX || !match_take_first(&s->matches, one->to, one->from, m, s->next))
        return;
    aside_add(&s->aside, one->to, one->from, one->tail, (uint32_t)one->n);
    stage_drop_message(s, m);
}

/* All of a message is there. */
static void deliver(stage *s, uint32_t m)
{
    message *one = &s->messages[m];
    one->arrived = true;
    if (one->taken) {
        const uint32_t to = one->to;
        stage_add_arrival(s, m);
        stage_close_one(s, to);
    } else if (stage_is_full(s) && aside_pays(&s->aside)) {
        put_aside(s, m);
    }
}

/* A message that waited for its receiver has left the sender. */
static void leave(stage *s, const message *m, double at)
{
    if (m->asks) {
        rank *from = &s->ranks[m->from];
        from->gone = later(from->gone, at);
        stage_close_one(s, m->from);
    }
}

/* The interface was occupied between these times. */
static void count_busy(stage *s, interface *i, double from, double to)
{
    i->busy += later(to, s->begun) - later(from, s->begun);
    s->p->busiest = later(s->p->busiest, i->busy);
}

/* The message comes to an interface at `head`. */
static void pass(stage *s, uint32_t number, interface *i, const level *l)
{
    message *m = &s->messages[number];
    const double start = later(m->head, i->free_at), time = m->n * l->byte;
    if (i->free_at > 0) /* the gap after the message before this one, if there was one */
        count_busy(s, i, i->free_at - l->gap, i->free_at);
    count_busy(s, i, start, start + time);
    i->free_at = start + l->gap + time;
    m->head = start;
    m->tail = later(m->tail, start + time);
}

static void on_way(stage *s, uint32_t number, double latency, hop to)
{
    message *m = &s->messages[number];
    m->head += latency;
    m->tail += latency;
    m->hop = (uint8_t)to;
    events_push(&s->events, stage_time(s, m->head), number | A_MESSAGE);
}

void transit_hop(stage *s, uint32_t number)
{
    message *m = &s->messages[number];
    const play *p = s->p;
    const level *levels = p->machine->levels, *l = stage_level(s, m);
    const size_t from = m->out, to = m->in;
    const size_t per_group = (size_t)(p->machine->group_nodes > 0 ? p->machine->group_nodes : 1);
    const bool grouped = p->machine->group_nodes > 0;
    const bool far = grouped && l == &levels[NETWORK];
    /* Where there are groups, the interface of a node is that of its level. */
    const level *node = grouped ? &levels[GROUP] : &levels[NETWORK];
    switch ((hop)m->hop) {
    case NODE_OUT:
        pass(s, number, &s->out[from], node);
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
    const level *l = stage_level(s, m);
    if (s->p->queues && m->out != m->in) {
        m->hop = NODE_OUT;
        m->tail = m->head;
        /* One that waited starts later than the rank's own time, which may send others before. */
        if (!m->asks && events_none_before(&s->events, stage_time(s, m->head)))
            transit_hop(s, number);
        else
            events_push(&s->events, stage_time(s, m->head), number | A_MESSAGE);
        return;
    }
    m->tail = m->head + m->n * l->byte;
    leave(s, m, m->tail);
    m->tail += l->latency;
    deliver(s, number);
}

static void count_message(play *p, const message *m)
{
    const bool between = m->out != m->in;
    p->messages++;
    p->bytes += (uint64_t)m->n;
    p->messages_between += between;
    p->bytes_between += between ? (uint64_t)m->n : 0;
}

/* The receiver is ready from `posted` on, and has been asked at `asked`. */
static void grant(stage *s, uint32_t number, double asked, double posted)
{
    message *m = &s->messages[number];
    m->head = later(asked, posted) + stage_level(s, m)->latency;
    start_message(s, number);
}

void transit_send(stage *s, uint32_t r, int peer, double n)
{
    rank *me = &s->ranks[r];
    const uint32_t number = new_message(s), to = (uint32_t)peer;
    if (number == NO_MESSAGE)
        return;
    message *m = &s->messages[number];
    const play *p = s->p;
    *m = (message){.n = n,
                   .from = r,
                   .to = to,
                   .out = (uint32_t)p->node[r],
                   .in = (uint32_t)p->node[to],
                   .level = (uint8_t)level_between(p, (int)r, peer)};
    const level *l = stage_level(s, m);
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

/* Picoseconds between the receives of a round, so that what waits for them starts in their order.
 * Else many messages of a rank start at one time: all ranks send to one rank first, whatever order
 * the algorithm has. */
enum { RECEIVE = 1 };

/* True if a message that was put aside meets the receive. */
static bool receive_aside(stage *s, uint32_t r, int peer)
{
    item early;
    if (!aside_take(&s->aside, r, (uint32_t)peer, &early))
        return false;
    const level *l = &s->p->machine->levels[level_between(s->p, peer, (int)r)];
    aside_add_arrived(&s->aside, r, early.time, level_cost(l, item_bytes(&early)));
    return true;
}

void transit_receive(stage *s, uint32_t r, int peer)
{
    rank *me = &s->ranks[r];
    me->posted = later(me->posted + RECEIVE, me->time);
    if (aside_has(&s->aside, r) && receive_aside(s, r, peer))
        return;
    const uint32_t number = match_receive(&s->matches, r, (uint32_t)peer, s->next);
    if (number == NO_MESSAGE) {
        me->open++;
        return;
    }
    message *m = &s->messages[number];
    m->taken = true;
    if (m->arrived) {
        stage_add_arrival(s, number);
        return;
    }
    me->open++;
    if (m->asks) /* its sender has waited since it asked */
        grant(s, number, m->head + stage_level(s, m)->latency, me->posted);
}
