/* SPDX-License-Identifier: BSD-3-Clause */
/* sched.c - the builder behind sched.h. */
#include <stddef.h>
#include <stdlib.h>

#include "mpi/mpi_compat.h"
#include "sched/step.h"

enum { ALIGNMENT = 64 }; /* of pieces of scratch: a cache line */

cco_sched *cco_sched_new(const cco_problem *q)
{
    cco_sched *s = calloc(1, sizeof *s);
    if (s == NULL)
        return NULL;
    s->layouts = q->layouts;
    s->stamp = cco_stamp(q->coll, q->root, cco_is_neighbor(q->coll) ? 0 : q->bytes);
    s->rank = q->rank;
    s->size = q->size;
    s->unit = q->unit;
    s->map = q->pieces ? q->nodes : NULL;
    s->empties = q->empties && q->near != NULL;
    s->error = MPI_SUCCESS;
    return s;
}

/* Memory of the builder, in a list. */
typedef struct cco_note {
    struct cco_note *next;
    max_align_t memory[];
} cco_note;

void cco_sched_free(cco_sched *s)
{
    while (s != NULL && s->notes != NULL) {
        cco_note *next = s->notes->next;
        free(s->notes);
        s->notes = next;
    }
    if (s != NULL)
        free(s->steps);
    free(s);
}

int cco_sched_error(const cco_sched *s)
{
    return s->error;
}

static void sched_fail(cco_sched *s, int error)
{
    if (s->error == MPI_SUCCESS)
        s->error = error;
}

static void sched_add(cco_sched *s, cco_step step)
{
    if (s->error != MPI_SUCCESS)
        return;
    if (s->count == s->room) {
        const int room = s->room ? 2 * s->room : 16;
        cco_step *larger = realloc(s->steps, (size_t)room * sizeof *larger);
        if (larger == NULL) {
            sched_fail(s, MPI_ERR_NO_MEM);
            return;
        }
        s->steps = larger;
        s->room = room;
    }
    s->steps[s->count++] = step;
}

void *cco_builder_memory(cco_sched *s, size_t n)
{
    cco_note *note = malloc(sizeof *note + (n > 0 ? n : 1));
    if (note == NULL) {
        sched_fail(s, MPI_ERR_NO_MEM);
        return NULL;
    }
    note->next = s->notes;
    s->notes = note;
    return note->memory;
}

void cco_within(cco_sched *s, const cco_group *group)
{
    s->group = group;
}

static bool is_peer(cco_sched *s, int peer)
{
    const cco_group *group = s->group;
    if (peer >= 0 && peer < (group != NULL ? group->size : s->size) &&
        peer != (group != NULL ? group->place : s->rank))
        return true;
    sched_fail(s, MPI_ERR_INTERN);
    return false;
}

int cco_group_rank(const cco_group *group, int place)
{
    const cco_node_map *map = group->nodes;
    if (group->ranks != NULL)
        return group->ranks[place];
    if (group->root >= 0 && map->node[group->root] == place)
        return group->root;
    return cco_node_rank(map, place, group->at + (group->at < 0 ? cco_node_ranks(map, place) : 0));
}

static int sched_rank_of(const cco_sched *s, int peer)
{
    return s->group != NULL ? cco_group_rank(s->group, peer) : peer;
}

/* Bytes of the pieces in which `n` go to a rank: both ends know the same of it. */
static size_t sched_piece_of(const cco_sched *s, int rank, size_t n)
{
    const cco_node_map *map = s->map;
    const bool cut = map != NULL && map->node[rank] != map->node[s->rank] && n > map->piece &&
                     n <= CCO_PIECES * map->piece && s->unit <= map->piece;
    return cut ? map->piece / s->unit * s->unit : n;
}

static void add_message(cco_sched *s, cco_step_kind kind, int peer, cco_span data)
{
    if ((data.n == 0 && !s->empties) || !is_peer(s, peer))
        return;
    const int rank = sched_rank_of(s, peer);
    const size_t piece = sched_piece_of(s, rank, data.n);
    size_t at = 0, n;
    do {
        n = data.n - at < piece ? data.n - at : piece;
        const cco_span part = cco_part(s, data, at, n);
        cco_step step = {.kind = kind, .peer = rank};
        *(kind == CCO_STEP_SEND ? &step.a : &step.b) = part;
        sched_add(s, step);
        at += n;
    } while (at < data.n);
}

void cco_send(cco_sched *s, int peer, cco_span from)
{
    add_message(s, CCO_STEP_SEND, peer, from);
}

void cco_recv(cco_sched *s, int peer, cco_span to)
{
    add_message(s, CCO_STEP_RECV, peer, to);
}

void cco_copy(cco_sched *s, cco_span from, cco_span to)
{
    if (from.n != to.n)
        sched_fail(s, MPI_ERR_INTERN);
    else if (from.n > 0 && (from.base != to.base || from.at != to.at))
        sched_add(s, (cco_step){.kind = CCO_STEP_COPY, .a = from, .b = to});
}

void cco_reduce(cco_sched *s, cco_span from, cco_span into)
{
    if (from.n != into.n || from.n % s->layouts[into.layout].size != 0)
        sched_fail(s, MPI_ERR_INTERN);
    else if (from.n > 0)
        sched_add(s, (cco_step){.kind = CCO_STEP_REDUCE, .a = from, .b = into});
}

void cco_fold_into(cco_sched *s, cco_span from, cco_span into)
{
    if (into.n == 0 || from.n == 0)
        return;
    if (from.n % into.n != 0 || into.n % s->layouts[into.layout].size != 0)
        sched_fail(s, MPI_ERR_INTERN);
    else
        sched_add(s, (cco_step){.kind = CCO_STEP_REDUCE, .a = from, .b = into, .fold = true});
}

int cco_expose(cco_sched *s, cco_span span)
{
    const int slot = s->slots;
    if (s->count != slot) /* peers may learn of the slots in the first round */
        sched_fail(s, MPI_ERR_INTERN);
    sched_add(s, (cco_step){.kind = CCO_STEP_EXPOSE, .a = span, .slot = slot});
    s->slots++;
    return slot;
}

/* All ranks expose equally often. */
static bool is_slot(cco_sched *s, int slot)
{
    if (slot >= 0 && slot < s->slots)
        return true;
    sched_fail(s, MPI_ERR_INTERN);
    return false;
}

void cco_put(cco_sched *s, int peer, cco_span from, int slot, size_t place)
{
    if (from.n > 0 && is_peer(s, peer) && is_slot(s, slot))
        sched_add(s, (cco_step){CCO_STEP_PUT, sched_rank_of(s, peer), .a = from, .slot = slot,
                                .place = place});
}

void cco_get(cco_sched *s, int peer, int slot, size_t place, cco_span to)
{
    if (to.n > 0 && is_peer(s, peer) && is_slot(s, slot))
        sched_add(s, (cco_step){CCO_STEP_GET, sched_rank_of(s, peer), .b = to, .slot = slot,
                                .place = place});
}

void cco_notify(cco_sched *s, int peer)
{
    if (is_peer(s, peer))
        sched_add(s, (cco_step){.kind = CCO_STEP_NOTIFY, .peer = sched_rank_of(s, peer)});
}

void cco_await(cco_sched *s, int peer)
{
    if (is_peer(s, peer))
        sched_add(s, (cco_step){.kind = CCO_STEP_AWAIT, .peer = sched_rank_of(s, peer)});
}

/* An empty round says nothing: one that opens after nothing is the same round. */
void cco_round(cco_sched *s)
{
    if (s->count > 0 && s->steps[s->count - 1].kind != CCO_STEP_ROUND)
        sched_add(s, (cco_step){.kind = CCO_STEP_ROUND});
}

int cco_round_end(const cco_sched *s, int first)
{
    while (first < s->count && s->steps[first].kind != CCO_STEP_ROUND)
        first++;
    return first;
}

size_t cco_span_memory(const cco_sched *s, cco_span span)
{
    const cco_layout *layout = &s->layouts[span.layout];
    const size_t extent = (size_t)(layout->extent < 0 ? -layout->extent : layout->extent);
    return span.n == 0 ? 0 : span.n / layout->size * extent;
}

cco_span cco_scratch(cco_sched *s, size_t n)
{
    cco_span span = {CCO_TMP, CCO_TMP, (ptrdiff_t)s->scratch, n};
    const cco_layout *layout = &s->layouts[CCO_TMP];
    if (n % layout->size != 0)
        sched_fail(s, MPI_ERR_INTERN);
    s->scratch += (cco_span_memory(s, span) + layout->spill + ALIGNMENT - 1) / ALIGNMENT *
                  ALIGNMENT;
    if (layout->extent < 0 && n > 0) /* elements lie downwards from the first */
        span.at -= (ptrdiff_t)(n / layout->size - 1) * layout->extent;
    return span;
}

cco_span cco_part(cco_sched *s, cco_span span, size_t from, size_t n)
{
    const cco_layout *layout = &s->layouts[span.layout];
    if (from + n > span.n || from % layout->size != 0 || n % layout->size != 0) {
        sched_fail(s, MPI_ERR_INTERN);
        return (cco_span){.base = span.base, .layout = span.layout};
    }
    span.at += (ptrdiff_t)(from / layout->size) * layout->extent;
    span.n = n;
    return span;
}
