/* SPDX-License-Identifier: BSD-3-Clause */
/* stage.c - see stage.h. */
#include "stage.h"

#include <stdlib.h>

/* Without queues the order of what happens makes no difference: every rank goes as far as it can.
 */
void stage_go_on_at(stage *s, uint32_t r)
{
    if (s->p->queues)
        events_push(&s->events, stage_time(s, s->ranks[r].time), r);
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
        const level *l = stage_level(s, one);
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

void stage_end_round(stage *s, rank *me)
{
    take_arrivals(s, me);
    me->time = me->time > me->gone ? me->time : me->gone;
    me->gone = 0;
    me->act = 0;
    if (++me->round == me->count)
        me->rounds = NULL;
}

/* One message of the round of a rank is done. */
void stage_close_one(stage *s, uint32_t r)
{
    rank *me = &s->ranks[r];
    if (--me->open > 0 || !me->waits)
        return;
    me->waits = false;
    stage_end_round(s, me);
    stage_go_on_at(s, r);
}

void stage_add_arrival(stage *s, uint32_t m)
{
    rank *to = &s->ranks[s->messages[m].to];
    s->next[m] = to->arrivals;
    to->arrivals = m;
}
