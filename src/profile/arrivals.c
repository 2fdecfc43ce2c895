/* SPDX-License-Identifier: BSD-3-Clause */
/* arrivals.c - see arrivals.h. */
#include "profile/arrivals.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "comm/comm.h"
#include "profile/common_clock.h"
#include "base/world.h"

static uint32_t first_below; /* as CRESTA_PROFILE_WAIT says */
static uint64_t note_ticks;  /* what it takes to note a call */
static bool ended;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static cco_arrival_sets kept; /* of communicators that are gone */
static int kept_calls;
static uint32_t kept_below = UINT32_MAX;

/* About as long as reading this clock twice, and each other one once.  What interrupted most
 * attempts did not interrupt all of them. */
static uint64_t ticks_of_note(void)
{
    uint64_t least = UINT64_MAX;
    for (int attempt = 0; attempt < 8; attempt++) {
        const uint64_t start = cco_ticks();
        for (int i = 0; i < 8; i++)
            (void)cco_clock_here();
        const uint64_t ticks = (cco_ticks() - start) / 4;
        least = ticks < least ? ticks : least;
    }
    return least;
}

void cco_arrivals_begin(unsigned rate)
{
    first_below = rate == 0 ? 0 : UINT32_MAX / rate;
    note_ticks = rate == 0 ? 0 : ticks_of_note();
    ended = false;
}

/* Ranks of other worlds take no part when this one evaluates what it has. */
cco_arrival_set *cco_arrivals_of(cco_comm *state)
{
    cco_arrival_set *sets = calloc(CCO_COLLECTIVES, sizeof *sets);
    const int leader = cco_world_rank_of(state->comm, 0);
    const bool known = state->number != 0 && cco_in_world(state->comm);
    for (uint64_t coll = 0; sets != NULL && coll < CCO_COLLECTIVES; coll++)
        sets[coll] = (cco_arrival_set){.id = state->number * CCO_COLLECTIVES + coll,
                                       .size = state->size,
                                       .leader = leader,
                                       .below = known ? first_below : 0};
    return state->records.arrivals = sets;
}

/* Keeps what has a smaller hash. */
static void keep_below(cco_arrival_set *set, uint32_t below)
{
    int left = 0;
    set->below = below;
    for (int i = 0; i < set->count; i++)
        if (cco_arrivals_hash(set, set->list[i].call) < below)
            set->list[left++] = set->list[i];
    set->count = left;
}

void cco_arrivals_thin(cco_arrival_set *set, int most)
{
    while (set->count > most)
        keep_below(set, set->below / 2);
}

uint32_t cco_arrivals_afforded(const cco_arrival_set *set, uint64_t note)
{
    double ticks = 0, below = set->below;
    for (int i = 0; i < set->count; i++)
        ticks += (double)set->list[i].ticks;
    const double costs = (double)CCO_NOTE_PART * (double)note * set->count;
    while (ticks > 0 && below >= 1 && costs * (below / UINT32_MAX) > ticks)
        below /= 2;
    return (uint32_t)below;
}

static bool arrivals_make_room(cco_arrival_set *set)
{
    const int room = set->room > 0 ? 2 * set->room : 8;
    if (set->count >= CCO_ARRIVALS_FREE)
        keep_below(set, cco_arrivals_afforded(set, note_ticks));
    if (set->room == CCO_ARRIVALS)
        cco_arrivals_thin(set, CCO_ARRIVALS - 1);
    if (set->count < set->room)
        return true;
    cco_arrival *larger = realloc(set->list, (size_t)room * sizeof *larger);
    if (larger == NULL)
        return false;
    set->list = larger;
    set->room = room;
    return true;
}

void cco_arrivals_add(cco_arrival_set *set, const cco_arrival *sample)
{
    if (set->count == set->room && !arrivals_make_room(set))
        return;
    if (cco_arrivals_hash(set, sample->call) < set->below) /* room was made by thinning */
        set->list[set->count++] = *sample;
}

/* Appends a set, whose list it takes.  False when memory runs out. */
static bool arrivals_append(cco_arrival_sets *sets, const cco_arrival_set *set)
{
    if (sets->count == sets->room) {
        const int room = sets->room > 0 ? 2 * sets->room : 16;
        cco_arrival_set *larger = realloc(sets->list, (size_t)room * sizeof *larger);
        if (larger == NULL)
            return false;
        sets->list = larger;
        sets->room = room;
    }
    sets->list[sets->count++] = *set;
    return true;
}

static void arrivals_add_copy(cco_arrival_sets *to, const cco_arrival_set *set, int64_t from)
{
    cco_arrival_set copy = *set;
    copy.count = 0;
    copy.list = malloc((size_t)(set->count + 1) * sizeof *copy.list);
    for (int i = 0; copy.list != NULL && i < set->count; i++)
        if (set->list[i].arrival >= from)
            copy.list[copy.count++] = set->list[i];
    if (copy.count == 0 || !arrivals_append(to, &copy))
        free(copy.list);
}

/* With the lock. */
static void thin_kept(void)
{
    int left = 0;
    kept_below /= 2;
    kept_calls = 0;
    for (int i = 0; i < kept.count; i++) {
        cco_arrival_set *set = &kept.list[i];
        if (set->below > kept_below)
            keep_below(set, kept_below);
        kept_calls += set->count;
        if (set->count > 0)
            kept.list[left++] = *set;
        else
            free(set->list);
    }
    kept.count = left;
}

/* With the lock. */
static void keep_set(cco_arrival_set *set)
{
    if (set->below > kept_below)
        keep_below(set, kept_below);
    cco_arrival *fitting = realloc(set->list, (size_t)(set->count + 1) * sizeof *fitting);
    set->list = fitting != NULL ? fitting : set->list; /* without the room that is not used */
    if (!ended && set->count > 0 && arrivals_append(&kept, set))
        kept_calls += set->count;
    else
        free(set->list);
    while (kept_calls > CCO_ARRIVALS_KEPT)
        thin_kept();
}

void cco_arrivals_keep(cco_arrival_set *sets)
{
    pthread_mutex_lock(&lock);
    for (int coll = 0; sets != NULL && coll < CCO_COLLECTIVES; coll++)
        if (sets[coll].count > 0)
            keep_set(&sets[coll]);
    pthread_mutex_unlock(&lock);
    free(sets);
}

void cco_arrivals_add_copies(cco_arrival_sets *to, const cco_arrival_set *sets, int64_t from)
{
    for (int coll = 0; sets != NULL && coll < CCO_COLLECTIVES; coll++)
        if (sets[coll].count > 0)
            arrivals_add_copy(to, &sets[coll], from);
}

cco_arrival_sets cco_arrivals_of_gone(int64_t from)
{
    cco_arrival_sets sets = {0};
    pthread_mutex_lock(&lock);
    for (int i = 0; i < kept.count; i++)
        arrivals_add_copy(&sets, &kept.list[i], from);
    pthread_mutex_unlock(&lock);
    return sets;
}

static int arrivals_compare(const void *x, const void *y)
{
    const cco_arrival_set *a = x, *b = y;
    if (a->leader != b->leader)
        return a->leader < b->leader ? -1 : 1;
    return (a->id > b->id) - (a->id < b->id);
}

void cco_arrival_sets_sort(cco_arrival_sets *sets)
{
    if (sets->count > 1)
        qsort(sets->list, (size_t)sets->count, sizeof *sets->list, arrivals_compare);
}

void cco_arrivals_end(void)
{
    pthread_mutex_lock(&lock);
    ended = true;
    cco_arrival_sets_free(&kept);
    pthread_mutex_unlock(&lock);
}

void cco_arrival_sets_free(cco_arrival_sets *sets)
{
    for (int i = 0; i < sets->count; i++)
        free(sets->list[i].list);
    free(sets->list);
    *sets = (cco_arrival_sets){0};
}
