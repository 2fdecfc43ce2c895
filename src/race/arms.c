/* SPDX-License-Identifier: BSD-3-Clause */
/* arms.c - see arms.h. */
#include "race/arms.h"

#include <stdlib.h>
#include <string.h>

#include "core/log.h"
#include "core/wait.h"
#include "progress/path.h"
#include "tune/choose.h"

/* What is chosen for a communicator: what is in its state under the arm that it has. */
typedef struct chosen {
    bool made;
    cco_choices choices[CCO_COLLECTIVES];
    uint32_t plain, sized, to_report;
} chosen;

/* From begin number `at` of a communicator on, it has an arm. */
typedef struct change {
    unsigned at;
    int arm;
} change;

enum { CHANGES = 16 };

/* Attached to a communicator. */
typedef struct arms {
    cco_comm *state;
    int arm;
    chosen of[CCO_ARMS];     /* all but that one */
    change changes[CHANGES]; /* that come with its begins, in their order */
    int waiting;             /* how many */
} arms;

static const char key; /* its address is the key */

static const cco_race_settings *race;
static int present;

void cco_arms_begin(const cco_race_settings *settings)
{
    race = settings;
    present = 0;
}

/* What the choices of other arms recorded goes to the profile. */
static void drop_others(arms *a)
{
    for (int i = 0; i < CCO_ARMS; i++) {
        for (int coll = 0; coll < CCO_COLLECTIVES; coll++) {
            for (int k = 0; k < a->of[i].choices[coll].count; k++)
                cco_profile_keep(a->state, (cco_coll)coll, &a->of[i].choices[coll].list[k]);
            free(a->of[i].choices[coll].list);
        }
        a->of[i] = (chosen){.made = false};
    }
}

static void release(void *data)
{
    drop_others(data);
    free(data);
}

static void put_away(chosen *c, cco_comm *state)
{
    memcpy(c->choices, state->choices, sizeof c->choices);
    memset(state->choices, 0, sizeof state->choices);
    c->plain = state->plain_choices;
    c->sized = state->sized;
    c->to_report = state->to_report;
    c->made = true;
}

static void take(chosen *c, cco_comm *state)
{
    memcpy(state->choices, c->choices, sizeof c->choices);
    state->plain_choices = c->plain;
    state->sized = c->sized;
    state->to_report = c->to_report;
    cco_comm_update(state);
    *c = (chosen){.made = false};
}

static void load(arms *a, int arm)
{
    a->arm = arm;
    if (a->of[arm].made)
        take(&a->of[arm], a->state);
    else if (!cco_choose_by(a->state, race->arm[arm].rules))
        cco_fatal("no memory for the choices of communicator '%s'", a->state->name);
}

void cco_arms_set_up(cco_comm *state)
{
    arms *a = cco_comm_attached(state, &key);
    if (race == NULL)
        return;
    if (a == NULL) {
        a = cco_comm_attach(state, &key, sizeof *a, release);
        a->state = state;
    }
    drop_others(a);
    load(a, present);
    a->waiting = 0;
    state->watched &= ~(unsigned)CCO_WATCHED_ARM;
    cco_comm_update(state);
}

static void take_arm(arms *a, int arm)
{
    if (a->arm == arm)
        return;
    put_away(&a->of[a->arm], a->state);
    load(a, arm);
}

static void watch(cco_comm *state, bool wanted)
{
    state->watched &= ~(unsigned)CCO_WATCHED_ARM;
    state->watched |= wanted ? CCO_WATCHED_ARM : 0;
    cco_comm_update(state);
}

static bool has_begins(const cco_comm *state)
{
    return state->begins_ready && state->channel.comm != MPI_COMM_NULL;
}

static void mark(cco_comm *state)
{
    const arms *a = cco_comm_attached(state, &key);
    if (a != NULL && !has_begins(state))
        watch(state, a->arm != present);
}

/* Communicators with begins, in the order of their channels: those that share a carrier are in one
 * order on all ranks. */
typedef struct listed {
    cco_comm *state;
    uint64_t mine[2], most[2]; /* begins so far; no room for another change */
    MPI_Request request;
} listed;

static listed *list;
static int count, room;

static void add(cco_comm *state)
{
    const arms *a = cco_comm_attached(state, &key);
    if (a == NULL || !has_begins(state))
        return;
    if (count == room) {
        listed *larger = realloc(list, (size_t)(2 * room + 8) * sizeof *list);
        if (larger == NULL)
            cco_fatal("no memory for a race");
        list = larger;
        room = 2 * room + 8;
    }
    list[count++] = (listed){state, {state->begins, a->waiting == CHANGES}, {0}, MPI_REQUEST_NULL};
}

static int by_channel(const void *a, const void *b)
{
    const listed *x = a, *y = b;
    return x->state->channel.number - y->state->channel.number;
}

/* A rank may have begun what another begins after this call.  So all agree on a number of begins
 * that none has passed. */
static void agree_on_begins(void)
{
    count = 0;
    cco_comm_for_each(add);
    if (count == 0)
        return;
    qsort(list, (size_t)count, sizeof *list, by_channel);
    for (int i = 0; i < count; i++)
        if (PMPI_Iallreduce(list[i].mine, list[i].most, 2, MPI_UINT64_T, MPI_MAX,
                            list[i].state->channel.comm, &list[i].request) != MPI_SUCCESS)
            cco_fatal("CRESTA_RACE: the MPI's allreduce failed");
    for (int i = 0; i < count; i++) {
        cco_wait(&list[i].request);
        arms *a = cco_comm_attached(list[i].state, &key);
        if (list[i].most[1])
            continue;
        a->changes[a->waiting++] = (change){(unsigned)list[i].most[0], present};
        watch(list[i].state, true);
    }
}

void cco_arms_switch(int arm, bool may_agree)
{
    present = arm;
    cco_comm_for_each(mark);
    if (may_agree)
        agree_on_begins();
}

/* All begins that some rank made before a change have been made. */
void cco_arms_catch_up(cco_comm *state)
{
    arms *a = cco_comm_attached(state, &key);
    if (!(state->watched & CCO_WATCHED_ARM))
        return;
    take_arm(a, a->waiting > 0 ? a->changes[a->waiting - 1].arm : present);
    a->waiting = 0;
    watch(state, false);
}

void cco_arms_follow_begin(cco_comm *state)
{
    arms *a = cco_comm_attached(state, &key);
    int due = 0;
    while (due < a->waiting && a->changes[due].at <= state->begins)
        due++;
    if (due == 0)
        return;
    take_arm(a, a->changes[due - 1].arm);
    a->waiting -= due;
    memmove(a->changes, a->changes + due, (size_t)a->waiting * sizeof *a->changes);
    watch(state, a->waiting > 0);
}

void cco_arms_prepare_begins(cco_comm *state)
{
    arms *a = cco_comm_attached(state, &key);
    if (a == NULL)
        return;
    const int before = a->arm;
    cco_comm_channel(state);
    for (int arm = 0; arm < race->arms; arm++) {
        take_arm(a, arm);
        cco_paths_prepare(state);
    }
    take_arm(a, before);
}

void cco_arms_end(void)
{
    free(list);
    list = NULL;
    count = room = 0;
}
