/* SPDX-License-Identifier: BSD-3-Clause */
/* merge.c - see merge.h.
 *
 * Per level there are rounds to unpack what came before, for the local steps that messages of the
 * level depend on, to pack these messages, and for the messages themselves. */
#include "sched/merge.h"

#include <limits.h>
#include <stdlib.h>

#include "mpi/mpi_compat.h"
#include "sched/message_levels.h"

enum { WITH_MESSAGES = INT_MAX };

/* A step of a call, and where it comes in the whole. */
typedef struct piece {
    int level;
    int phase; /* of local steps: rounds of the call without messages follow each other there */
    int peer;  /* -1 of local steps */
    int turn;  /* of the peer: each rank begins with the one after it */
    bool sends;
    int part, step;
    int batch;     /* of the first of those that are one message: how many there are; and */
    cco_span wire; /* what is sent or received */
} piece;

typedef struct merge {
    const cco_merge_part *parts;
    cco_sched *made;
    cco_span *scratch; /* of each part */
    piece *pieces;
    int count;
} merge;

static const cco_step *sched_merge_step_of(const merge *m, const piece *p)
{
    return &m->parts[p->part].sched->steps[p->step];
}

/* Where a span of a part lies in the whole. */
static cco_span sched_merge_placed(const merge *m, int part, cco_span span)
{
    const bool scratch = span.base == CCO_TMP;
    const ptrdiff_t at = scratch ? m->scratch[part].at : m->parts[part].at[span.base];
    const cco_base base = scratch ? CCO_TMP : CCO_OUT;
    return (cco_span){base, base, at + span.at, span.n};
}

static cco_span data_of(const merge *m, const piece *p)
{
    const cco_step *step = sched_merge_step_of(m, p);
    return sched_merge_placed(m, p->part, p->sends ? step->a : step->b);
}

static void add_round(merge *m, int part, int first, int end, int level, int phase)
{
    const cco_merge_part *one = &m->parts[part];
    const cco_sched *s = one->sched;
    for (int i = first; i < end; i++) {
        const cco_step *step = &s->steps[i];
        const bool message = cco_step_is_message(step);
        m->pieces[m->count++] = (piece){.level = message ? one->levels[i] : level,
                                        .phase = message ? WITH_MESSAGES : phase,
                                        .peer = message ? step->peer : -1,
                                        .turn = message ? (step->peer + s->size - s->rank) % s->size
                                                        : -1,
                                        .sends = step->kind == CCO_STEP_SEND,
                                        .part = part,
                                        .step = i};
    }
}

/* Local steps come as early as they can: beside the messages of their round, or before. */
static void sched_merge_add_part(merge *m, int part)
{
    const cco_merge_part *one = &m->parts[part];
    const cco_sched *s = one->sched;
    int level = 0, phase = 0;
    for (int first = 0, end; first < s->count; first = end + 1) {
        int next = level;
        bool messages = false;
        end = cco_round_end(s, first);
        for (int i = first; i < end; i++)
            if (cco_step_is_message(&s->steps[i])) {
                messages = true;
                next = one->levels[i] >= next ? one->levels[i] + 1 : next;
            }
        add_round(m, part, first, end, level, messages ? WITH_MESSAGES : phase);
        phase = messages ? 0 : phase + 1;
        level = next;
    }
}

static int sched_merge_compare(const void *a, const void *b)
{
    const piece *x = a, *y = b;
    if (x->level != y->level)
        return x->level < y->level ? -1 : 1;
    if (x->phase != y->phase)
        return x->phase < y->phase ? -1 : 1;
    if (x->turn != y->turn)
        return x->turn < y->turn ? -1 : 1;
    if (x->sends != y->sends)
        return x->sends ? -1 : 1;
    if (x->part != y->part)
        return x->part < y->part ? -1 : 1;
    return x->step < y->step ? -1 : 1;
}

/* Adds a copy, to the one before if it goes on where that ends. */
static void sched_merge_add_copy(cco_sched *s, cco_span from, cco_span to)
{
    cco_step *last = s->count > 0 ? &s->steps[s->count - 1] : NULL;
    if (last != NULL && last->kind == CCO_STEP_COPY && last->a.base == from.base &&
        last->b.base == to.base && last->a.at + (ptrdiff_t)last->a.n == from.at &&
        last->b.at + (ptrdiff_t)last->b.n == to.at) {
        last->a.n += from.n;
        last->b.n += from.n;
        return;
    }
    cco_copy(s, from, to);
}

static void add_local(merge *m, const piece *p)
{
    cco_sched *s = m->made;
    const cco_step *step = sched_merge_step_of(m, p);
    const cco_span from = sched_merge_placed(m, p->part, step->a),
                   to = sched_merge_placed(m, p->part, step->b);
    if (step->kind == CCO_STEP_COPY) {
        sched_merge_add_copy(s, from, to);
        return;
    }
    if (step->fold)
        cco_fold_into(s, from, to);
    else
        cco_reduce(s, from, to);
    if (cco_sched_error(s) == MPI_SUCCESS && from.n > 0)
        s->steps[s->count - 1].operation = m->parts[p->part].operation;
}

/* Which of the pieces up to `end` go with the first in one message.  Both ends decide alike. */
static int batch_of(const merge *m, int first, int end, size_t *bytes)
{
    const piece *one = &m->pieces[first];
    int count = 1;
    *bytes = data_of(m, one).n;
    if (*bytes > CCO_MERGE_PART)
        return 1;
    for (int i = first + 1; i < end; i++, count++) {
        const piece *p = &m->pieces[i];
        const size_t n = data_of(m, p).n;
        if (p->peer != one->peer || p->sends != one->sends || n > CCO_MERGE_PART ||
            *bytes + n > CCO_MERGE_MOST)
            break;
        *bytes += n;
    }
    return count;
}

/* True if the data of a batch lie one after the other. */
static bool is_one_span(const merge *m, int first, int count)
{
    for (int i = first + 1; i < first + count; i++) {
        const cco_span before = data_of(m, &m->pieces[i - 1]), here = data_of(m, &m->pieces[i]);
        if (before.base != here.base || before.at + (ptrdiff_t)before.n != here.at)
            return false;
    }
    return true;
}

/* The messages of a level. */
static void make_batches(merge *m, int first, int end)
{
    size_t bytes;
    for (int i = first; i < end; i += m->pieces[i].batch) {
        piece *p = &m->pieces[i];
        p->batch = batch_of(m, i, end, &bytes);
        p->wire = data_of(m, p);
        p->wire.n = bytes;
        if (!is_one_span(m, i, p->batch))
            p->wire = cco_scratch(m->made, bytes);
    }
}

/* Packs what a level sends, or unpacks what it received. */
static void move_batches(merge *m, int first, int end, bool sends)
{
    cco_round(m->made);
    for (int i = first; i < end; i += m->pieces[i].batch) {
        const piece *p = &m->pieces[i];
        const cco_span own = data_of(m, p);
        if (p->sends != sends || (p->wire.base == own.base && p->wire.at == own.at))
            continue;
        cco_span wire = p->wire;
        for (int k = i; k < i + p->batch; k++, wire.at += (ptrdiff_t)wire.n) {
            const cco_span data = data_of(m, &m->pieces[k]);
            wire.n = data.n;
            sched_merge_add_copy(m->made, sends ? data : wire, sends ? wire : data);
        }
    }
}

static void send_batches(merge *m, int first, int end)
{
    for (int i = first; i < end; i += m->pieces[i].batch) {
        const piece *p = &m->pieces[i];
        if (p->sends)
            cco_send(m->made, p->peer, p->wire);
        else
            cco_recv(m->made, p->peer, p->wire);
    }
}

/* The local steps of a phase, which are a round, or a part of one. */
static int sched_merge_add_locals(merge *m, int first, int end)
{
    const int phase = m->pieces[first].phase;
    int i = first;
    for (; i < end && m->pieces[i].phase == phase && m->pieces[i].peer < 0; i++)
        add_local(m, &m->pieces[i]);
    return i;
}

/* Local steps before the messages, then these beside the local steps of their rounds. */
static void add_level(merge *m, int first, int end)
{
    while (first < end && m->pieces[first].phase != WITH_MESSAGES) {
        cco_round(m->made);
        first = sched_merge_add_locals(m, first, end);
    }
    int messages = first;
    while (messages < end && m->pieces[messages].peer < 0)
        messages++;
    make_batches(m, messages, end);
    move_batches(m, messages, end, true);
    cco_round(m->made);
    send_batches(m, messages, end);
    if (first < messages)
        sched_merge_add_locals(m, first, messages);
    move_batches(m, messages, end, false);
}

static void add_levels(merge *m)
{
    for (int first = 0, end; first < m->count; first = end) {
        for (end = first; end < m->count && m->pieces[end].level == m->pieces[first].level;)
            end++;
        add_level(m, first, end);
    }
}

cco_sched *cco_merge(const cco_merge_part *parts, int count, const cco_problem *q)
{
    size_t steps = 1;
    for (int i = 0; i < count; i++)
        steps += (size_t)parts[i].sched->count;
    merge m = {.parts = parts,
               .made = cco_sched_new(q),
               .scratch = calloc((size_t)count + 1, sizeof *m.scratch),
               .pieces = malloc(steps * sizeof *m.pieces)};
    const bool there = m.made != NULL && m.scratch != NULL && m.pieces != NULL;
    for (int i = 0; there && i < count; i++) {
        m.scratch[i] = cco_scratch(m.made, parts[i].sched->scratch);
        sched_merge_add_part(&m, i);
    }
    if (there) {
        qsort(m.pieces, (size_t)m.count, sizeof *m.pieces, sched_merge_compare);
        add_levels(&m);
    }
    free(m.scratch);
    free(m.pieces);
    if (there)
        return m.made;
    cco_sched_free(m.made);
    return NULL;
}
