/* SPDX-License-Identifier: BSD-3-Clause */
/* onesided.c - see onesided.h. */
#include "simulator/onesided.h"

#include "simulator/memory.h"

#include <stdlib.h>
#include <string.h>

/* How many rounds of each rank are known to be over.  Never changes once others may see it. */
typedef struct clock {
    int users;
    int rounds[];
} clock;

typedef struct note {
    struct note *next;
    int from, round; /* who sent it, in which of its rounds */
    int chain;       /* messages one after the other up to it */
    clock *known;    /* by the sender when that round opened */
    uint64_t heard[CCO_SIM_RANKS / 64];
} note;

/* Memory of a slot that somebody touched. */
typedef struct access {
    cco_base base;
    ptrdiff_t from, to;
    int who, round;
    bool writes;
    bool put; /* and its target has not awaited it */
} access;

typedef struct side {
    int round;           /* that is open; counted as the printer does */
    clock *known;        /* when it opened */
    clock *learned;      /* since; NULL if nothing */
    unsigned char *open; /* by peer: a notification of it was awaited */
    note *first, **last; /* that came and were not awaited */
    access *log;
    int count, room;
} side;

struct cco_onesided {
    int size;
    side sides[];
};

static clock *clock_copy(const clock *c, int size)
{
    clock *copy = malloc(sizeof *copy + (size_t)size * sizeof copy->rounds[0]);
    if (copy != NULL) {
        copy->users = 1;
        memcpy(copy->rounds, c->rounds, (size_t)size * sizeof copy->rounds[0]);
    }
    return copy;
}

static void clock_drop(clock *c)
{
    if (c != NULL && --c->users == 0)
        free(c);
}

static bool any_steps(const cco_sim *sim)
{
    for (int i = 0; i < sim->size; i++) {
        const cco_sched *s = sim->ranks[i].sched;
        for (int k = 0; k < s->count; k++)
            if (s->steps[k].kind >= CCO_STEP_EXPOSE && s->steps[k].kind <= CCO_STEP_AWAIT)
                return true;
    }
    return false;
}

static bool same_slots(cco_sim *sim)
{
    for (int i = 1; i < sim->size; i++)
        if (sim->ranks[i].sched->slots != sim->ranks[0].sched->slots)
            return cco_sim_wrong(sim, "rank %d exposes %d spans, rank 0 exposes %d", i,
                                 sim->ranks[i].sched->slots, sim->ranks[0].sched->slots);
    return true;
}

bool cco_onesided_begin(cco_sim *sim)
{
    const size_t size = (size_t)sim->size;
    sim->onesided = NULL;
    if (!any_steps(sim))
        return true;
    struct cco_onesided *one = calloc(1, sizeof *one + size * sizeof one->sides[0]);
    bool fine = one != NULL;
    for (int i = 0; fine && i < sim->size; i++) {
        side *s = &one->sides[i];
        s->round = -1;
        s->last = &s->first;
        s->open = calloc(size, 1);
        s->known = calloc(1, sizeof *s->known + size * sizeof s->known->rounds[0]);
        fine = s->open != NULL && s->known != NULL;
        if (s->known != NULL)
            s->known->users = 1;
    }
    if (one != NULL)
        one->size = sim->size;
    sim->onesided = one;
    return fine ? same_slots(sim) : cco_sim_wrong(sim, "no memory");
}

static void note_free(note *n)
{
    clock_drop(n->known);
    free(n);
}

void cco_onesided_end(cco_sim *sim)
{
    for (int i = 0; sim->onesided != NULL && i < sim->onesided->size; i++) {
        side *s = &sim->onesided->sides[i];
        for (note *n = s->first, *next; n != NULL; n = next) {
            next = n->next;
            note_free(n);
        }
        clock_drop(s->known);
        clock_drop(s->learned);
        free(s->open);
        free(s->log);
    }
    free(sim->onesided);
    sim->onesided = NULL;
}

void cco_onesided_open(cco_sim *sim, int rank)
{
    side *s = &sim->onesided->sides[rank];
    s->round++;
    if (s->learned != NULL) {
        clock_drop(s->known);
        s->known = s->learned;
        s->learned = NULL;
    }
}

static ptrdiff_t span_end(const cco_sim *sim, int owner, cco_span span)
{
    return span.at + (ptrdiff_t)cco_span_memory(sim->ranks[owner].sched, span);
}

static bool in_a_slot(const cco_sim *sim, int owner, cco_span span)
{
    const cco_sched *s = sim->ranks[owner].sched;
    for (int i = 0; i < s->slots; i++) {
        const cco_span slot = s->steps[i].a;
        if (slot.n > 0 && span.n > 0 && slot.base == span.base &&
            slot.at < span_end(sim, owner, span) && span.at < span_end(sim, owner, slot))
            return true;
    }
    return false;
}

/* True if an access comes before the open round of a rank. */
static bool ordered(const side *s, int who, const access *before)
{
    if (before->put)
        return false;
    return before->round < (before->who == who ? s->round : s->known->rounds[before->who]);
}

static bool race(cco_sim *sim, int owner, const access *now, const access *before)
{
    const char *does = now->who == owner ? now->writes ? "writes" : "reads"
                       : now->writes     ? "puts to"
                                         : "gets";
    const char *did = before->put            ? "put"
                      : before->who != owner ? "get"
                      : before->writes       ? "write"
                                             : "read";
    return cco_sim_wrong(sim,
                         "rank %d %s %s[%td..%td] of rank %d in round %d, not ordered after the %s "
                         "by rank %d in round %d",
                         now->who, does, cco_sim_bases[now->base], now->from, now->to, owner,
                         now->round, did, before->who, before->round);
}

/* What is ordered after the new access is after the old one too, so that it need not be kept. */
static bool replaces(const access *now, const access *old)
{
    return now->from <= old->from && old->to <= now->to &&
           (now->writes || (!old->writes && now->who == old->who));
}

static bool keep(cco_sim *sim, side *s, const access *now)
{
    if (s->count == s->room) {
        const int room = s->room ? 2 * s->room : 16;
        access *larger = realloc(s->log, (size_t)room * sizeof *larger);
        if (larger == NULL)
            return cco_sim_wrong(sim, "no memory");
        s->log = larger;
        s->room = room;
    }
    s->log[s->count++] = *now;
    return true;
}

bool cco_onesided_touch(cco_sim *sim, int who, int owner, cco_span span, bool writes)
{
    side *theirs = &sim->onesided->sides[owner], *mine = &sim->onesided->sides[who];
    const access now = {span.base,   span.at, span_end(sim, owner, span), who,
                        mine->round, writes,  who != owner && writes};
    if (!in_a_slot(sim, owner, span))
        return true;
    for (int i = 0; i < theirs->count;) {
        access *old = &theirs->log[i];
        const bool meet = old->base == now.base && old->from < now.to && now.from < old->to;
        if (meet && (writes || old->writes) && !ordered(mine, who, old))
            return race(sim, owner, &now, old);
        if (meet && replaces(&now, old))
            *old = theirs->log[--theirs->count];
        else
            i++;
    }
    return keep(sim, theirs, &now);
}

/* The part of a peer's slot that a put or get means; an empty span if there is none. */
static cco_span part_of_slot(cco_sim *sim, int rank, const cco_step *step, size_t n)
{
    const cco_sched *s = sim->ranks[step->peer].sched;
    cco_span span = s->steps[step->slot].a; /* a slot is a step: all ranks have as many */
    const cco_layout *layout = &s->layouts[span.layout];
    const char *does = step->kind == CCO_STEP_PUT ? "puts to" : "gets";
    if (step->place > span.n || n > span.n - step->place) {
        cco_sim_wrong(sim, "rank %d %s bytes %zu to %zu of slot %d of rank %d, which has %zu", rank,
                      does, step->place, step->place + n, step->slot, step->peer, span.n);
        return (cco_span){0};
    }
    if (step->place % layout->size != 0 || n % layout->size != 0) {
        cco_sim_wrong(sim, "rank %d %s bytes %zu to %zu of slot %d of rank %d: not whole elements",
                      rank, does, step->place, step->place + n, step->slot, step->peer);
        return (cco_span){0};
    }
    span.at += (ptrdiff_t)(step->place / layout->size) * layout->extent;
    span.n = n;
    return span;
}

static bool transfer(cco_sim *sim, int rank, const cco_step *step)
{
    const bool puts = step->kind == CCO_STEP_PUT;
    const cco_span own = puts ? step->a : step->b;
    if (!sim->onesided->sides[rank].open[step->peer])
        return cco_sim_wrong(sim, "rank %d %s slot %d of rank %d before a notification by it", rank,
                             puts ? "puts to" : "gets from", step->slot, step->peer);
    const cco_span there = part_of_slot(sim, rank, step, own.n);
    if (there.n == 0 || !cco_onesided_touch(sim, rank, step->peer, there, puts))
        return false;
    cco_sim_rank *r = &sim->ranks[rank];
    if (!puts) /* a put goes on with its notification */
        r->ended = r->ended > r->begun ? r->ended : r->begun + 1;
    sim->messages++;
    sim->bytes += own.n;
    return puts ? cco_sim_move(sim, rank, own, step->peer, there)
                : cco_sim_move(sim, step->peer, there, rank, own);
}

static bool notify(cco_sim *sim, int rank, int peer)
{
    side *mine = &sim->onesided->sides[rank], *theirs = &sim->onesided->sides[peer];
    note *n = calloc(1, sizeof *n);
    if (n == NULL)
        return cco_sim_wrong(sim, "no memory");
    *n = (note){.from = rank, .round = mine->round, .known = mine->known};
    n->chain = sim->ranks[rank].begun + 1;
    n->known->users++;
    memcpy(n->heard, sim->ranks[rank].known, sizeof n->heard);
    *theirs->last = n;
    theirs->last = &n->next;
    sim->notifications++;
    return true;
}

bool cco_onesided_run(cco_sim *sim, int rank, const cco_step *step)
{
    return step->kind == CCO_STEP_NOTIFY ? notify(sim, rank, step->peer)
                                         : transfer(sim, rank, step);
}

/* The first notification by a peer, taken out; NULL if none came. */
static note *take(side *s, int peer)
{
    for (note **link = &s->first; *link != NULL; link = &(*link)->next) {
        note *n = *link;
        if (n->from != peer)
            continue;
        *link = n->next;
        if (s->last == &n->next)
            s->last = link;
        return n;
    }
    return NULL;
}

/* What the peer put here before it sent the notification is this rank's from now on. */
static void adopt(side *s, int rank, const note *n)
{
    for (int i = 0; i < s->count; i++) {
        access *a = &s->log[i];
        if (!a->put || a->who != n->from || a->round >= n->round)
            continue;
        a->put = false;
        a->who = rank;
        a->round = s->round;
    }
}

static bool learn(cco_sim *sim, int rank, const note *n)
{
    side *s = &sim->onesided->sides[rank];
    cco_sim_rank *r = &sim->ranks[rank];
    if (s->learned == NULL && (s->learned = clock_copy(s->known, sim->size)) == NULL)
        return cco_sim_wrong(sim, "no memory");
    for (int i = 0; i < sim->size; i++) {
        const int over = i == n->from ? n->round : n->known->rounds[i];
        if (s->learned->rounds[i] < over)
            s->learned->rounds[i] = over;
    }
    for (int w = 0; w < CCO_SIM_RANKS / 64; w++)
        r->heard[w] |= n->heard[w];
    r->ended = r->ended > n->chain ? r->ended : n->chain;
    s->open[n->from] = 1;
    adopt(s, rank, n);
    return true;
}

bool cco_onesided_await(cco_sim *sim, int rank)
{
    cco_sim_rank *r = &sim->ranks[rank];
    bool any = false;
    for (int i = r->at; i < r->end; i++) {
        const cco_step *step = &r->sched->steps[i];
        if (step->kind != CCO_STEP_AWAIT || r->done[i])
            continue;
        note *n = take(&sim->onesided->sides[rank], step->peer);
        if (n == NULL)
            continue;
        any = true;
        r->done[i] = 1;
        r->left--;
        learn(sim, rank, n);
        note_free(n);
    }
    return any;
}

void cco_onesided_check_end(cco_sim *sim)
{
    for (int i = 0; i < sim->size; i++) {
        side *s = &sim->onesided->sides[i];
        const int last = s->round;
        cco_onesided_open(sim, i); /* the caller's use of the buffers is a round after the last */
        for (int k = 0; k < s->count; k++)
            if (!ordered(s, i, &s->log[k]))
                cco_sim_wrong(sim,
                              "rank %d ends after round %d, not ordered after the %s by rank %d "
                              "in round %d",
                              i, last, s->log[k].put ? "put" : "get", s->log[k].who,
                              s->log[k].round);
    }
    for (int i = 0; i < sim->size; i++)
        if (sim->onesided->sides[i].first != NULL)
            cco_sim_wrong(sim, "nobody awaits a notification from rank %d to rank %d",
                          sim->onesided->sides[i].first->from, i);
}
