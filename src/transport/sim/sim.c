/* SPDX-License-Identifier: BSD-3-Clause */
/* sim.c - see sim.h. */
#include "transport/sim/sim.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const base_names[CCO_BASES] = {"in", "out", "tmp"};

__attribute__((format(printf, 2, 3))) static bool wrong(cco_sim *sim, const char *format, ...)
{
    va_list arguments;
    if (sim->why[0] != '\0')
        return false;
    va_start(arguments, format);
    vsnprintf(sim->why, sizeof sim->why, format, arguments);
    va_end(arguments);
    return false;
}

static bool inside(cco_sim *sim, int rank, cco_span span)
{
    const size_t size = sim->ranks[rank].memory[span.base].size;
    const size_t end = (size_t)span.at + cco_span_memory(sim->ranks[rank].sched, span);
    if (span.n == 0 || (span.at >= 0 && end <= size))
        return true;
    return wrong(sim, "rank %d reaches outside of %s: bytes %td to %zu of %zu", rank,
                 base_names[span.base], span.at, end, size);
}

/* Copies the data of a span to or from `packed`, keeping account of what is written. */
static bool transfer(cco_sim *sim, int rank, cco_span span, unsigned char *packed, bool out)
{
    const cco_memory *memory = &sim->ranks[rank].memory[span.base];
    const cco_layout *layout = &sim->ranks[rank].sched->layouts[span.layout];
    const bool dense = layout->extent == (ptrdiff_t)layout->size;
    const size_t n = dense ? span.n : layout->size; /* bytes that lie together */
    ptrdiff_t at = span.at;
    for (size_t left = span.n; left > 0; left -= n, at += layout->extent) {
        if (at < 0 || (size_t)at + n > memory->size)
            return wrong(sim, "rank %d reaches outside of %s: byte %td of %zu", rank,
                         base_names[span.base], at, memory->size);
        if (out) {
            memcpy(memory->data + at, packed, n);
            memset(memory->written + at, 1, n);
        } else {
            if (memchr(memory->written + at, 0, n) != NULL)
                return wrong(sim, "rank %d reads byte %td of %s, which nobody wrote", rank, at,
                             base_names[span.base]);
            memcpy(packed, memory->data + at, n);
        }
        packed += n;
    }
    return true;
}

static bool move(cco_sim *sim, int from, cco_span a, int to, cco_span b)
{
    if (sim->count_only)
        return inside(sim, from, a) && inside(sim, to, b);
    unsigned char *packed = malloc(a.n + 1);
    const bool fine = packed != NULL && transfer(sim, from, a, packed, false) &&
                      transfer(sim, to, b, packed, true);
    free(packed);
    return fine;
}

static bool reduce(cco_sim *sim, int rank, cco_span a, cco_span b)
{
    if (sim->count_only)
        return inside(sim, rank, a) && inside(sim, rank, b);
    const size_t element = sim->ranks[rank].sched->layouts[b.layout].size;
    unsigned char *from = malloc(a.n + 1), *into = malloc(b.n + 1);
    bool fine = from != NULL && into != NULL && transfer(sim, rank, a, from, false) &&
                transfer(sim, rank, b, into, false);
    for (size_t i = 0; fine && i < b.n; i += element)
        sim->reduce(from + i, into + i, element);
    fine = fine && transfer(sim, rank, b, into, true);
    free(from);
    free(into);
    return fine;
}

static ptrdiff_t end_of(const cco_sched *s, cco_span span)
{
    return span.at + (ptrdiff_t)cco_span_memory(s, span);
}

/* Spans are never empty in a step.  `a_end` comes from outside: this is asked for every pair. */
static bool overlap(const cco_sched *s, const cco_span *a, ptrdiff_t a_end, const cco_span *b)
{
    return a->base == b->base && b->at < a_end && (b->at >= a->at || a->at < end_of(s, *b));
}

static bool writes(const cco_step *step)
{
    return step->kind != CCO_STEP_SEND;
}

static bool reads(const cco_step *step)
{
    return step->kind != CCO_STEP_RECV;
}

/* Steps of one round may run in any order, so none may touch what another one writes. */
static bool check_round(cco_sim *sim, int rank)
{
    const cco_sim_rank *r = &sim->ranks[rank];
    const cco_sched *s = r->sched;
    for (int i = r->at; i < r->end; i++) {
        const cco_step *x = &s->steps[i];
        const ptrdiff_t end = writes(x) ? end_of(s, x->b) : 0;
        for (int j = r->at; writes(x) && j < r->end; j++) {
            const cco_step *y = &s->steps[j];
            if ((i != j && reads(y) && overlap(s, &x->b, end, &y->a)) ||
                (i < j && writes(y) && overlap(s, &x->b, end, &y->b)))
                return wrong(sim, "rank %d: steps %d and %d of one round touch the same memory",
                             rank, i, j);
        }
    }
    return true;
}

/* Opens rounds of a rank until one has messages; its local steps run at once. */
static bool open_round(cco_sim *sim, int rank)
{
    cco_sim_rank *r = &sim->ranks[rank];
    const cco_sched *s = r->sched;
    while (r->left == 0 && r->end < s->count) {
        r->at = r->end == 0 ? 0 : r->end + 1;
        for (r->end = r->at; r->end < s->count && s->steps[r->end].kind != CCO_STEP_ROUND; r->end++)
            r->left += s->steps[r->end].kind <= CCO_STEP_RECV;
        r->rounds += r->left > 0;
        r->begun = r->ended;
        memcpy(r->known, r->heard, sizeof r->known);
        if (!check_round(sim, rank))
            return false;
        for (int i = r->at; i < r->end; i++) {
            const cco_step *step = &s->steps[i];
            if ((step->kind == CCO_STEP_COPY && !move(sim, rank, step->a, rank, step->b)) ||
                (step->kind == CCO_STEP_REDUCE && !reduce(sim, rank, step->a, step->b)))
                return false;
        }
    }
    return true;
}

/* The first message in a rank's round, of a kind and with a peer, that has not met; -1 if none. */
static int waiting(const cco_sim_rank *r, cco_step_kind kind, int peer)
{
    for (int i = r->at; i < r->end; i++)
        if (!r->done[i] && r->sched->steps[i].kind == kind && r->sched->steps[i].peer == peer)
            return i;
    return -1;
}

/* Every message takes the same time: it ends one later than the later of its two ranks came. */
static void count_message(cco_sim *sim, cco_sim_rank *from, cco_sim_rank *to, size_t bytes)
{
    const int end = 1 + (from->begun > to->begun ? from->begun : to->begun);
    from->ended = end > from->ended ? end : from->ended;
    to->ended = end > to->ended ? end : to->ended;
    sim->messages++;
    sim->bytes += bytes;
}

/* Lets the sends of a rank meet their receives.  True if one did, or if something is wrong. */
static bool deliver(cco_sim *sim, int rank)
{
    cco_sim_rank *r = &sim->ranks[rank];
    bool any = false;
    for (int i = r->at; i < r->end; i++) {
        const cco_step *send = &r->sched->steps[i];
        if (send->kind != CCO_STEP_SEND || waiting(r, CCO_STEP_SEND, send->peer) != i)
            continue;
        cco_sim_rank *other = &sim->ranks[send->peer];
        const int k = waiting(other, CCO_STEP_RECV, rank);
        if (k < 0)
            continue;
        const cco_step *recv = &other->sched->steps[k];
        any = true;
        if (send->a.n != recv->b.n)
            wrong(sim, "rank %d sends %zu bytes to rank %d, which expects %zu", rank, send->a.n,
                  send->peer, recv->b.n);
        else
            move(sim, rank, send->a, send->peer, recv->b);
        r->done[i] = other->done[k] = 1;
        r->left--;
        other->left--;
        count_message(sim, r, other, send->a.n);
        for (int w = 0; w < CCO_SIM_RANKS / 64; w++)
            other->heard[w] |= r->known[w];
    }
    return any;
}

static bool begin(cco_sim *sim)
{
    sim->messages = sim->bytes = 0;
    sim->rounds = sim->chain = 0;
    sim->why[0] = '\0';
    for (int i = 0; i < sim->size; i++) {
        cco_sim_rank *r = &sim->ranks[i];
        r->at = r->end = r->left = r->rounds = r->begun = r->ended = 0;
        memset(r->heard, 0, sizeof r->heard);
        r->heard[i / 64] |= (uint64_t)1 << i % 64;
        r->done = calloc((size_t)r->sched->count + 1, 1);
        if (r->done == NULL)
            return wrong(sim, "no memory");
    }
    return true;
}

/* What a rank waits for when nothing moves any more. */
static void explain_deadlock(cco_sim *sim)
{
    for (int i = 0; i < sim->size; i++) {
        const cco_sim_rank *r = &sim->ranks[i];
        for (int k = r->at; r->left > 0 && k < r->end; k++) {
            const cco_step *step = &r->sched->steps[k];
            if (!r->done[k] && step->kind <= CCO_STEP_RECV)
                wrong(sim, "deadlock: rank %d waits in step %d to %s rank %d", i, k,
                      step->kind == CCO_STEP_SEND ? "send to" : "receive from", step->peer);
        }
    }
}

static void run(cco_sim *sim)
{
    for (bool moved = true; moved && sim->why[0] == '\0';) {
        moved = false;
        for (int i = 0; i < sim->size; i++)
            if (!open_round(sim, i))
                return;
        for (int i = 0; i < sim->size; i++)
            moved |= deliver(sim, i);
    }
    explain_deadlock(sim);
}

bool cco_sim_run(cco_sim *sim)
{
    if (begin(sim))
        run(sim);
    for (int i = 0; i < sim->size; i++) {
        cco_sim_rank *r = &sim->ranks[i];
        sim->rounds = r->rounds > sim->rounds ? r->rounds : sim->rounds;
        sim->chain = r->ended > sim->chain ? r->ended : sim->chain;
        free(r->done);
        r->done = NULL;
    }
    return sim->why[0] == '\0';
}
