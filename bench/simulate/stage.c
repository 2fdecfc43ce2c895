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

/* Those that are kept small, the last one first, as in the list of the others: sorting leaves those
 * of one time in their order.  Their number. */
static size_t collect_aside(stage *s, uint32_t r)
{
    const size_t count = aside_count_arrived(&s->aside, r);
    size_t left = count;
    if (!has_room(s, count))
        return 0;
    for (const piece *p = s->aside.arrived[r].first; p != NULL; p = p->next)
        for (uint32_t i = 0; i < p->count; i++) {
            left--;
            s->sorted[2 * left] = p->items[i].time;
            s->sorted[2 * left + 1] = item_cost(&p->items[i]);
        }
    aside_drop_arrived(&s->aside, r);
    return count;
}

/* The rank takes what came in its round, in the order of arrival. */
static void take_arrivals(stage *s, rank *me)
{
    const uint32_t r = (uint32_t)(me - s->ranks);
    size_t count = aside_has_arrived(&s->aside, r) ? collect_aside(s, r) : 0;
    for (uint32_t m = me->arrivals; m != NO_MESSAGE;) {
        const message *one = &s->messages[m];
        if (!has_room(s, count + 1))
            return;
        s->sorted[2 * count] = one->tail;
        s->sorted[2 * count++ + 1] = level_cost(stage_level(s, one), one->n);
        const uint32_t next = s->next[m];
        stage_drop_message(s, m);
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
    const message *one = &s->messages[m];
    const uint32_t to = one->to;
    /* Once some are kept small, all that come later are: their order is known then. */
    if (stage_is_full(s) || aside_has_arrived(&s->aside, to)) {
        aside_add_arrived(&s->aside, to, one->tail, level_cost(stage_level(s, one), one->n));
        stage_drop_message(s, m);
        return;
    }
    s->next[m] = s->ranks[to].arrivals;
    s->ranks[to].arrivals = m;
}
