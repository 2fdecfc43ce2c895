/* SPDX-License-Identifier: BSD-3-Clause */
/* sim.c - see sim.h. */
#include "simulator/sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sched/check.h"

#include "simulator/memory.h"
#include "simulator/onesided.h"

/* This rank's own reads and writes matter to others where they lie in its slots. */
static bool touch(cco_sim *sim, int rank, cco_span span, bool writes)
{
    return sim->onesided == NULL || cco_onesided_touch(sim, rank, rank, span, writes);
}

/* Between ranks, or from place to place on one. */
static bool move(cco_sim *sim, int from, cco_span a, int to, cco_span b)
{
    return touch(sim, from, a, false) && touch(sim, to, b, true) &&
           cco_sim_move(sim, from, a, to, b);
}

static bool reduce(cco_sim *sim, int rank, const cco_step *step)
{
    return touch(sim, rank, step->a, false) && touch(sim, rank, step->b, true) &&
           cco_sim_reduce(sim, rank, step->a, step->b, step->operation, step->fold);
}

/* True if its round has to wait for a step. */
static bool waits(const cco_step *step)
{
    return step->kind <= CCO_STEP_RECV || step->kind == CCO_STEP_AWAIT;
}

/* What needs no other rank, or only the memory of one, runs at once. */
static bool run_step(cco_sim *sim, int rank, const cco_step *step)
{
    switch (step->kind) {
    case CCO_STEP_COPY:
        return move(sim, rank, step->a, rank, step->b);
    case CCO_STEP_REDUCE:
        return reduce(sim, rank, step);
    case CCO_STEP_PUT:
        return touch(sim, rank, step->a, false) && cco_onesided_run(sim, rank, step);
    case CCO_STEP_GET:
        return touch(sim, rank, step->b, true) && cco_onesided_run(sim, rank, step);
    case CCO_STEP_NOTIFY:
        return cco_onesided_run(sim, rank, step);
    default:
        return true;
    }
}

/* The caller's send buffer may be in memory that cannot be written. */
static bool spares_input(const cco_sched *s, int first, int end)
{
    for (int i = first; i < end; i++) {
        const cco_step_kind kind = s->steps[i].kind;
        if ((kind == CCO_STEP_RECV || kind == CCO_STEP_COPY || kind == CCO_STEP_REDUCE ||
             kind == CCO_STEP_GET) &&
            s->steps[i].b.base == CCO_IN)
            return false;
    }
    return true;
}

static bool check_round(cco_sim *sim, int rank)
{
    const cco_sim_rank *r = &sim->ranks[rank];
    int one, other;
    if (sim->checked)
        return true;
    if (!spares_input(r->sched, r->at, r->end))
        return cco_sim_wrong(sim, "rank %d writes to its send buffer", rank);
    if (!cco_check_round(r->sched, r->at, r->end, &one, &other))
        return true;
    return cco_sim_wrong(sim, "rank %d: steps %d and %d of one round touch the same memory", rank,
                         one, other);
}

/* Opens rounds of a rank until one has to wait; the other steps run at once. */
static bool open_round(cco_sim *sim, int rank)
{
    cco_sim_rank *r = &sim->ranks[rank];
    const cco_sched *s = r->sched;
    while (r->left == 0 && r->end < s->count) {
        r->at = r->end == 0 ? 0 : r->end + 1;
        for (r->end = r->at; r->end < s->count && s->steps[r->end].kind != CCO_STEP_ROUND; r->end++)
            r->left += waits(&s->steps[r->end]);
        r->rounds += r->left > 0;
        r->begun = r->ended;
        memcpy(r->known, r->heard, sizeof r->known);
        if (sim->onesided != NULL)
            cco_onesided_open(sim, rank);
        if (!check_round(sim, rank))
            return false;
        for (int i = r->at; i < r->end; i++)
            if (!run_step(sim, rank, &s->steps[i]))
                return false;
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
            cco_sim_wrong(sim, "rank %d sends %zu bytes to rank %d, which expects %zu", rank,
                          send->a.n, send->peer, recv->b.n);
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
    sim->messages = sim->bytes = sim->notifications = 0;
    sim->rounds = sim->chain = 0;
    sim->why[0] = '\0';
    for (int i = 0; i < sim->size; i++) {
        cco_sim_rank *r = &sim->ranks[i];
        r->at = r->end = r->left = r->rounds = r->begun = r->ended = 0;
        memset(r->heard, 0, sizeof r->heard);
        r->heard[i / 64] |= (uint64_t)1 << i % 64;
        r->done = calloc((size_t)r->sched->count + 1, 1);
        if (r->done == NULL)
            return cco_sim_wrong(sim, "no memory");
    }
    return cco_onesided_begin(sim);
}

/* What a rank waits for when nothing moves any more. */
static void explain_deadlock(cco_sim *sim)
{
    for (int i = 0; i < sim->size; i++) {
        const cco_sim_rank *r = &sim->ranks[i];
        for (int k = r->at; r->left > 0 && k < r->end; k++) {
            const cco_step *step = &r->sched->steps[k];
            if (!r->done[k] && step->kind <= CCO_STEP_RECV)
                cco_sim_wrong(sim, "deadlock: rank %d waits in step %d to %s rank %d", i, k,
                              step->kind == CCO_STEP_SEND ? "send to" : "receive from", step->peer);
            if (!r->done[k] && step->kind == CCO_STEP_AWAIT)
                cco_sim_wrong(sim,
                              "deadlock: rank %d waits in step %d for a notification by rank %d", i,
                              k, step->peer);
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
        for (int i = 0; i < sim->size && sim->onesided != NULL; i++)
            moved |= cco_onesided_await(sim, i);
    }
    explain_deadlock(sim);
    if (sim->onesided != NULL)
        cco_onesided_check_end(sim);
}

bool cco_sim_run(cco_sim *sim)
{
    if (begin(sim))
        run(sim);
    cco_onesided_end(sim);
    for (int i = 0; i < sim->size; i++) {
        cco_sim_rank *r = &sim->ranks[i];
        sim->rounds = r->rounds > sim->rounds ? r->rounds : sim->rounds;
        sim->chain = r->ended > sim->chain ? r->ended : sim->chain;
        free(r->done);
        r->done = NULL;
    }
    return sim->why[0] == '\0';
}
