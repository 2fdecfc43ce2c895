/* SPDX-License-Identifier: BSD-3-Clause */
/* candidates.c - see candidates.h. */
#include "race/candidates.h"

#include <stdlib.h>

#include "base/clock.h"
#include "config/config.h"
#include "mpi/service.h"
#include "base/world.h"
#include "race/complete.h"

enum { ENOUGH = 4096 }; /* calls on one that repeats, after which others need not be waited for */

static const long LONG_NS = 250 * 1000 * 1000; /* of a step: several must fit into a second */

struct cco_candidate {
    cco_comm *state;
    uint64_t between;                   /* calls on others since its last one */
    uint64_t own[CCO_SEQUENCE_LONGEST]; /* its last calls without these */
    cco_sequence sequence;
    int period;      /* calls of a step, as all ranks have agreed; 0: not known yet */
    long step_ns;    /* agreed; */
    long watched_ns; /* since its first call, agreed */
    long first_ns;   /* when that was */
    long asked_ns;   /* when that was asked last, */
    unsigned asked;  /* and how many calls there had been */
    unsigned seen;   /* calls when another asked last */
    cco_candidate *next;
};

static const char key; /* its address is the key */

static struct {
    cco_candidate *list;
    unsigned most; /* calls on one of them */
    bool spoilt;   /* by calls from several threads */
    bool repeated; /* one of them has had a period */
} search;

static void candidates_release(void *data)
{
    cco_candidate **link = &search.list;
    while (*link != NULL && *link != data)
        link = &(*link)->next;
    if (*link != NULL)
        *link = (*link)->next;
    free(data);
}

/* The group is that of the world on one rank exactly if it is on all. */
static bool has_all_processes(const cco_comm *state)
{
    int world = 0;
    return state->size > 1 && cco_has_world() &&
           PMPI_Comm_size(MPI_COMM_WORLD, &world) == MPI_SUCCESS && world == state->size &&
           cco_in_world(state->comm);
}

static cco_candidate *candidates_find(cco_comm *state)
{
    cco_candidate *c = cco_comm_attached(state, &key);
    if (c != NULL || !has_all_processes(state))
        return c;
    c = cco_comm_attach(state, &key, sizeof *c, candidates_release);
    c->state = state;
    c->first_ns = c->asked_ns = cco_ns(CLOCK_MONOTONIC);
    c->next = search.list;
    search.list = c;
    return c;
}

cco_candidate *cco_candidates_add(cco_comm *state, uint64_t word)
{
    cco_candidate *here = candidates_find(state);
    const uint64_t place = cco_mix((uint64_t)state->size, cco_hash(0, state->name));
    for (cco_candidate *c = search.list; c != NULL; c = c->next)
        if (c != here)
            c->between = cco_mix(c->between, cco_mix(place, word));
    if (here == NULL)
        return NULL;
    here->own[here->sequence.count % CCO_SEQUENCE_LONGEST] = word;
    cco_sequence_add(&here->sequence, cco_mix(word, here->between));
    search.most = here->sequence.count > search.most ? here->sequence.count : search.most;
    here->between = 0;
    return here;
}

static void candidates_reduce(const uint64_t *mine, uint64_t *all, int n, MPI_Op op,
                              cco_comm *state)
{
    cco_race_complete(state, cco_service_allreduce(mine, all, n, MPI_UINT64_T, op, state->comm));
}

/* The least period that all ranks see, and the times of the slowest. */
static void candidates_ask(cco_candidate *c)
{
    const uint64_t mine = search.spoilt ? 0 : cco_sequence_periods(&c->sequence);
    const long now = cco_ns(CLOCK_MONOTONIC);
    const unsigned calls = c->sequence.count - c->asked;
    const uint64_t ns[] = {(uint64_t)(now - c->asked_ns) / (calls > 0 ? calls : 1),
                           (uint64_t)(now - c->first_ns)};
    uint64_t all = 0, longest[2] = {0};
    c->period = 0;
    candidates_reduce(&mine, &all, 1, MPI_BAND, c->state);
    candidates_reduce(ns, longest, 2, MPI_MAX, c->state);
    if (all == 0)
        return;
    c->period = __builtin_ctzll(all) + 1;
    search.repeated = true;
    c->step_ns = (long)longest[0] * c->period;
    c->watched_ns = (long)longest[1];
}

/* Another candidate, with calls now and then, may turn out to repeat longer steps. */
static bool others_may_follow(const cco_candidate *here)
{
    bool may = false;
    for (cco_candidate *c = search.list; c != NULL; c = c->next) {
        if (c != here && c->period == 0 && c->sequence.count > c->seen && c->sequence.count > 1)
            may = true;
        c->seen = c->sequence.count;
    }
    return may && here->sequence.count < ENOUGH;
}

static bool is_better(const cco_candidate *a, const cco_candidate *b)
{
    const bool a_long = a->step_ns > LONG_NS, b_long = b->step_ns > LONG_NS;
    if (a_long != b_long)
        return b_long;
    return a_long ? a->step_ns < b->step_ns : a->step_ns > b->step_ns;
}

static bool is_best(const cco_candidate *here)
{
    for (const cco_candidate *c = search.list; c != NULL; c = c->next)
        if (c->period > 0 && is_better(c, here))
            return false;
    return true;
}

/* Ranks need not know the same candidates, since they may have freed some: so all must find that
 * this is the one. */
int cco_candidate_period(cco_candidate *c, double watch_s)
{
    uint64_t all = 0;
    if (!cco_sequence_is_due(&c->sequence))
        return 0;
    candidates_ask(c);
    c->asked = c->sequence.count;
    c->asked_ns = cco_ns(CLOCK_MONOTONIC);
    if (c->period == 0 || 1e-9 * (double)c->watched_ns < watch_s)
        return 0;
    const bool may_follow = others_may_follow(c);
    const uint64_t mine = !may_follow && is_best(c);
    candidates_reduce(&mine, &all, 1, MPI_MIN, c->state);
    return all ? c->period : 0;
}

void cco_candidate_pattern(const cco_candidate *c, uint64_t *pattern)
{
    const unsigned first = c->sequence.count - (unsigned)c->period;
    for (int i = 0; i < c->period; i++)
        pattern[i] = c->own[(first + (unsigned)i) % CCO_SEQUENCE_LONGEST];
}

bool cco_candidate_is(cco_comm *state)
{
    return candidates_find(state) != NULL;
}

bool cco_candidate_is_due(cco_comm *state)
{
    cco_candidate *c = candidates_find(state);
    if (c == NULL)
        return false;
    c->sequence.count++;
    return cco_sequence_is_due(&c->sequence);
}

void cco_candidates_spoil(void)
{
    search.spoilt = true;
}

const char *cco_candidates_why(void)
{
    if (search.spoilt)
        return "the program calls collectives from several threads";
    if (search.most == 0)
        return "no blocking collective on a communicator with all processes";
    if (search.most < 16)
        return "fewer than 16 blocking collectives on communicators with all processes";
    if (search.repeated)
        return "the program ended too soon to time the steps that it repeats";
    _Static_assert(CCO_SEQUENCE_LONGEST == 64, "the number in the text");
    return "no sequence of up to 64 blocking collectives on communicators with all processes"
           " repeats";
}

bool cco_candidates_repeated(void)
{
    return search.repeated && !search.spoilt;
}

void cco_candidates_restart(void)
{
    for (cco_candidate *c = search.list; c != NULL; c = c->next) {
        c->sequence.count = c->asked = c->seen = 0;
        c->period = 0;
        c->between = 0;
        c->first_ns = c->asked_ns = cco_ns(CLOCK_MONOTONIC);
    }
}

void cco_candidates_forget(void)
{
    search.list = NULL;
}
