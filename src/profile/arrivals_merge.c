/* SPDX-License-Identifier: BSD-3-Clause */
/* arrivals_merge.c - see arrivals_merge.h.
 *
 * Arrivals go up the tree of service.h: each rank adds those of the ranks below it to its own, and
 * passes on the calls that still lack ranks.  The results go down again.  If the ranks of a
 * communicator lie in one branch, their calls are complete before the root. */
#include "profile/arrivals_merge.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "mpi/service.h"

typedef struct arrival {
    uint64_t call;
    int64_t last; /* of the ranks so far, on the clock of rank 0 */
} arrival;

/* Arrivals on one communicator; it travels as bytes, with its list behind it. */
typedef struct arrivals {
    uint64_t id;
    int32_t leader, size;
    int32_t ranks, count; /* that were added, and calls that all of these have */
    struct far {
        int32_t clock;
        double error;
    } far[2];       /* the two least certain clocks among theirs */
    int32_t clocks; /* in `far` */
    arrival *list;
} arrivals;

typedef struct many {
    arrivals *list;
    int count;
} many;

/* What a rank has on the tree. */
typedef struct arrivals_place {
    many all;
    many asked[CCO_TREE_MOST]; /* of each below it that gets an answer yet */
    int below;
    void *sent; /* the latest */
} arrivals_place;

static void *arrivals_merge_room_for(size_t count, size_t size)
{
    void *room = calloc(count + 1, size);
    if (room == NULL) /* to go on without it on one rank would hang the others */
        cco_fatal("no memory for the waiting in the profile (%zu bytes)", count * size);
    return room;
}

static int arrivals_merge_order(const arrivals *a, const arrivals *b)
{
    if (a->leader != b->leader)
        return a->leader < b->leader ? -1 : 1;
    return (a->id > b->id) - (a->id < b->id);
}

static void add_clock(arrivals *a, struct far far)
{
    for (int i = 0; i < a->clocks; i++)
        if (a->far[i].clock == far.clock)
            return;
    if (a->clocks < 2) {
        a->far[a->clocks++] = far;
        return;
    }
    struct far *surer = &a->far[a->far[0].error > a->far[1].error];
    if (surer->error < far.error)
        *surer = far;
}

static many of_this_rank(const cco_arrival_sets *sets, const cco_clock_line *line, int clock)
{
    many mine = {arrivals_merge_room_for((size_t)sets->count, sizeof(arrivals)), sets->count};
    for (int i = 0; i < sets->count; i++) {
        const cco_arrival_set *set = &sets->list[i];
        arrivals *a = &mine.list[i];
        *a = (arrivals){.id = set->id,
                        .leader = set->leader,
                        .size = set->size,
                        .ranks = 1,
                        .count = set->count,
                        .far = {{clock, line->error}},
                        .clocks = 1,
                        .list = arrivals_merge_room_for((size_t)set->count, sizeof(arrival))};
        for (int k = 0; k < set->count; k++)
            a->list[k] = (arrival){set->list[k].call, cco_clock_on(line, set->list[k].arrival)};
    }
    return mine;
}

/* What both have; `b` is gone then. */
static void arrivals_merge_combine(arrivals *a, arrivals *b)
{
    int left = 0;
    for (int i = 0, k = 0; i < a->count && k < b->count;) {
        const arrival *x = &a->list[i], *y = &b->list[k];
        if (x->call == y->call)
            a->list[left++] = x->last > y->last ? *x : *y;
        i += x->call <= y->call;
        k += x->call >= y->call;
    }
    a->count = left;
    a->ranks += b->ranks;
    for (int i = 0; i < b->clocks; i++)
        add_clock(a, b->far[i]);
    free(b->list);
}

/* Both are in order; both are gone then. */
static many arrivals_merge_merge(many a, many b)
{
    many sum = {arrivals_merge_room_for((size_t)a.count + (size_t)b.count, sizeof(arrivals)), 0};
    for (int i = 0, k = 0; i < a.count || k < b.count;) {
        const int sign = i == a.count   ? 1
                         : k == b.count ? -1
                                        : arrivals_merge_order(&a.list[i], &b.list[k]);
        if (sign == 0)
            arrivals_merge_combine(&a.list[i], &b.list[k]);
        sum.list[sum.count++] = sign <= 0 ? a.list[i] : b.list[k];
        i += sign <= 0;
        k += sign >= 0;
    }
    free(a.list);
    free(b.list);
    return sum;
}

/* Those that are `asked`, in their order; NULL: those that are not complete. */
static const void *arrivals_merge_pack(arrivals_place *place, const many *asked, size_t *bytes)
{
    const many *m = &place->all;
    const arrivals **some = arrivals_merge_room_for((size_t)m->count, sizeof *some);
    int count = 0;
    *bytes = 0;
    for (int i = 0, k = 0; i < m->count; i++) {
        const arrivals *a = &m->list[i];
        while (asked != NULL && k < asked->count && arrivals_merge_order(&asked->list[k], a) < 0)
            k++;
        if (asked != NULL ? k < asked->count && arrivals_merge_order(&asked->list[k], a) == 0
                          : a->ranks < a->size) {
            some[count++] = a;
            *bytes += sizeof *a + (size_t)a->count * sizeof *a->list;
        }
    }
    free(place->sent);
    char *at = place->sent = arrivals_merge_room_for(*bytes, 1);
    for (int i = 0; i < count; i++) {
        const size_t list = (size_t)some[i]->count * sizeof *some[i]->list;
        memcpy(at, some[i], sizeof *some[i]);
        if (list > 0)
            memcpy(at + sizeof *some[i], some[i]->list, list);
        at += sizeof *some[i] + list;
    }
    free(some);
    return place->sent;
}

static many arrivals_merge_unpack(const char *at, size_t bytes)
{
    const char *end = at + bytes;
    many m = {arrivals_merge_room_for(bytes / sizeof(arrivals), sizeof(arrivals)), 0};
    while (at < end) {
        arrivals *a = &m.list[m.count++];
        memcpy(a, at, sizeof *a);
        a->list = arrivals_merge_room_for((size_t)a->count, sizeof *a->list);
        memcpy(a->list, at + sizeof *a, (size_t)a->count * sizeof *a->list);
        at += sizeof *a + (size_t)a->count * sizeof *a->list;
    }
    return m;
}

static void free_lists(many *m)
{
    for (int i = 0; i < m->count; i++)
        free(m->list[i].list);
    free(m->list);
}

/* What the other ranks say of some replaces what this rank says. */
static void arrivals_merge_replace(many *m, many by)
{
    for (int i = 0, k = 0; i < m->count && k < by.count; i++) {
        if (arrivals_merge_order(&m->list[i], &by.list[k]) != 0)
            continue;
        free(m->list[i].list);
        m->list[i] = by.list[k++];
    }
    free(by.list);
}

/* The names of some. */
static many names_of(const many *m)
{
    many names = {arrivals_merge_room_for((size_t)m->count, sizeof(arrivals)), m->count};
    memcpy(names.list, m->list, (size_t)m->count * sizeof(arrivals));
    return names;
}

static const void *arrivals_merge_give(void *what, size_t *bytes)
{
    return arrivals_merge_pack(what, NULL, bytes);
}

static bool arrivals_merge_take_below(void *what, void *theirs, size_t bytes)
{
    arrivals_place *place = what;
    const many below = arrivals_merge_unpack(theirs, bytes);
    place->asked[place->below++] = names_of(&below);
    place->all = arrivals_merge_merge(place->all, below);
    return true;
}

static const void *arrivals_merge_answer(void *what, size_t *bytes)
{
    arrivals_place *place = what;
    many *asked = &place->asked[--place->below];
    const void *answer = arrivals_merge_pack(place, asked, bytes);
    free(asked->list);
    return answer;
}

static bool arrivals_merge_hear(void *what, void *theirs, size_t bytes)
{
    arrivals_place *place = what;
    arrivals_merge_replace(&place->all, arrivals_merge_unpack(theirs, bytes));
    return true;
}

static many arrivals_merge_exchange(MPI_Comm comm, many mine)
{
    arrivals_place place = {.all = mine};
    cco_service_merge(&(cco_merger){arrivals_merge_give, arrivals_merge_take_below, &place,
                                    arrivals_merge_answer, arrivals_merge_hear},
                      comm);
    while (place.below > 0)
        free(place.asked[--place.below].list);
    free(place.sent);
    return place.all;
}

/* What is left of a set. */
static void arrivals_merge_take(cco_arrival_set *set, const arrivals *a, const cco_clock_line *line)
{
    int left = 0;
    const int count = a->ranks == a->size ? a->count : 0;
    for (int i = 0, k = 0; i < set->count && k < count; i++) {
        cco_arrival sample = set->list[i];
        while (k < count && a->list[k].call < sample.call)
            k++;
        if (k == count || a->list[k].call != sample.call)
            continue;
        const int64_t waited = a->list[k].last - cco_clock_on(line, sample.arrival);
        sample.waited = waited > 0 ? waited : 0;
        set->list[left++] = sample;
    }
    set->count = left;
    set->error = a->clocks == 2 ? a->far[0].error + a->far[1].error : 0;
}

void cco_arrivals_merge(MPI_Comm comm, cco_arrival_sets *sets, const cco_clock_line *line,
                        int clock)
{
    many all = arrivals_merge_exchange(comm, of_this_rank(sets, line, clock));
    for (int i = 0, k = 0; i < sets->count; i++) {
        const arrivals key = {.id = sets->list[i].id, .leader = sets->list[i].leader};
        while (arrivals_merge_order(&all.list[k], &key) < 0)
            k++;
        arrivals_merge_take(&sets->list[i], &all.list[k], line);
    }
    free_lists(&all);
}
