/* SPDX-License-Identifier: BSD-3-Clause */
/* arrivals_merge.c - see arrivals_merge.h.
 *
 * Up a binomial tree of the world: each rank adds to its own arrivals those of the ranks behind it,
 * and sends on what is not complete.  Down again goes what comes of it.  A communicator whose ranks
 * lie near each other is complete low in the tree.  No rank has to know who else has kept what. */
#include "core/arrivals_merge.h"

#include <stdlib.h>
#include <string.h>

#include "core/log.h"
#include "core/transfer.h"

enum { TAG = 6, LEVELS = 31, PIECE = 1 << 30 };

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

static void arrivals_merge_send_bytes(MPI_Comm comm, int peer, char *data, int64_t bytes)
{
    cco_transfer_to(comm, peer, TAG, &bytes, sizeof bytes);
    for (int64_t at = 0; at < bytes; at += PIECE)
        cco_transfer_to(comm, peer, TAG, data + at,
                        (size_t)(bytes - at < PIECE ? bytes - at : PIECE));
}

static char *receive_bytes(MPI_Comm comm, int peer, int64_t *bytes)
{
    *bytes = 0;
    cco_transfer_from(comm, peer, TAG, bytes, sizeof *bytes);
    char *data = arrivals_merge_room_for((size_t)*bytes, 1);
    for (int64_t at = 0; at < *bytes; at += PIECE)
        cco_transfer_from(comm, peer, TAG, data + at,
                          (size_t)(*bytes - at < PIECE ? *bytes - at : PIECE));
    return data;
}

/* Those that are `asked`, in their order; NULL: those that are not complete. */
static void send_some(MPI_Comm comm, int peer, const many *m, const many *asked)
{
    size_t bytes = 0;
    const arrivals **some = arrivals_merge_room_for((size_t)m->count, sizeof *some);
    int count = 0;
    for (int i = 0, k = 0; i < m->count; i++) {
        const arrivals *a = &m->list[i];
        while (asked != NULL && k < asked->count && arrivals_merge_order(&asked->list[k], a) < 0)
            k++;
        if (asked != NULL ? k < asked->count && arrivals_merge_order(&asked->list[k], a) == 0
                          : a->ranks < a->size) {
            some[count++] = a;
            bytes += sizeof *a + (size_t)a->count * sizeof *a->list;
        }
    }
    char *data = arrivals_merge_room_for(bytes, 1), *at = data;
    for (int i = 0; i < count; i++) {
        const size_t list = (size_t)some[i]->count * sizeof *some[i]->list;
        memcpy(at, some[i], sizeof *some[i]);
        if (list > 0)
            memcpy(at + sizeof *some[i], some[i]->list, list);
        at += sizeof *some[i] + list;
    }
    arrivals_merge_send_bytes(comm, peer, data, (int64_t)bytes);
    free(data);
    free(some);
}

static many receive_some(MPI_Comm comm, int peer)
{
    int64_t bytes;
    char *data = receive_bytes(comm, peer, &bytes), *at = data;
    many m = {arrivals_merge_room_for((size_t)bytes / sizeof(arrivals), sizeof(arrivals)), 0};
    while (at < data + bytes) {
        arrivals *a = &m.list[m.count++];
        memcpy(a, at, sizeof *a);
        a->list = arrivals_merge_room_for((size_t)a->count, sizeof *a->list);
        memcpy(a->list, at + sizeof *a, (size_t)a->count * sizeof *a->list);
        at += sizeof *a + (size_t)a->count * sizeof *a->list;
    }
    free(data);
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

static many arrivals_merge_exchange(MPI_Comm comm, many mine)
{
    int rank, size, level = 0, bit = 1;
    many asked[LEVELS];
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    for (; bit < size && !(rank & bit); bit <<= 1, level++) {
        asked[level] = (many){0};
        if (rank + bit >= size)
            continue;
        many theirs = receive_some(comm, rank + bit);
        asked[level] = names_of(&theirs);
        mine = arrivals_merge_merge(mine, theirs);
    }
    if (bit < size) {
        send_some(comm, rank - bit, &mine, NULL);
        arrivals_merge_replace(&mine, receive_some(comm, rank - bit));
    }
    while (level-- > 0) {
        bit >>= 1;
        if (rank + bit < size)
            send_some(comm, rank + bit, &mine, &asked[level]);
        free(asked[level].list);
    }
    return mine;
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
