/* SPDX-License-Identifier: BSD-3-Clause */
/* arms.c - see arms.h. */
#include "race/arms.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "mpi/service.h"
#include "progress/path.h"
#include "race/complete.h"
#include "tune/choose.h"

/* What is chosen for a communicator: what is in its state under the arm that it has. */
typedef struct chosen {
    bool made;
    cco_choices choices[CCO_COLLECTIVES];
    uint32_t plain, sized, classed, to_report;
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

static void arms_release(void *data)
{
    drop_others(data);
    free(data);
}

static void put_away(chosen *c, cco_comm *state)
{
    memcpy(c->choices, state->chosen.of, sizeof c->choices);
    memset(state->chosen.of, 0, sizeof state->chosen.of);
    c->plain = state->chosen.plain;
    c->sized = state->chosen.sized;
    c->classed = state->chosen.classed;
    c->to_report = state->chosen.to_report;
    c->made = true;
}

static void arms_take(chosen *c, cco_comm *state)
{
    memcpy(state->chosen.of, c->choices, sizeof c->choices);
    state->chosen.plain = c->plain;
    state->chosen.sized = c->sized;
    state->chosen.classed = c->classed;
    state->chosen.to_report = c->to_report;
    cco_comm_update(state);
    *c = (chosen){.made = false};
}

static void arms_load(arms *a, int arm)
{
    a->arm = arm;
    if (a->of[arm].made)
        arms_take(&a->of[arm], a->state);
    else if (!cco_choose_with(a->state, race->arm[arm].rules, race->arm[arm].place))
        cco_fatal("no memory for the choices of communicator '%s'", a->state->name);
}

void cco_arms_set_up(cco_comm *state)
{
    arms *a = cco_comm_attached(state, &key);
    if (race == NULL)
        return;
    if (a == NULL) {
        a = cco_comm_attach(state, &key, sizeof *a, arms_release);
        a->state = state;
    }
    drop_others(a);
    arms_load(a, present);
    a->waiting = 0;
    state->watched &= ~(unsigned)CCO_WATCHED_ARM;
    cco_comm_update(state);
}

static void take_arm(arms *a, int arm)
{
    if (a->arm == arm)
        return;
    put_away(&a->of[a->arm], a->state);
    arms_load(a, arm);
}

void cco_arms_take(cco_comm *state, int arm)
{
    take_arm(cco_comm_attached(state, &key), arm);
}

static void arms_watch(cco_comm *state, bool wanted)
{
    state->watched &= ~(unsigned)CCO_WATCHED_ARM;
    state->watched |= wanted ? CCO_WATCHED_ARM : 0;
    cco_comm_update(state);
}

static bool has_begins(const cco_comm *state)
{
    return state->begins.ready && state->channel.comm != MPI_COMM_NULL;
}

static void arms_mark(cco_comm *state)
{
    const arms *a = cco_comm_attached(state, &key);
    if (a != NULL && !has_begins(state))
        arms_watch(state, a->arm != present);
}

/* A communicator with begins, as its ranks tell each other. */
typedef struct entry {
    uint64_t carrier, channel; /* by which they know it */
    uint64_t begins;           /* so far, */
    uint64_t full;             /* and no room for another change */
} entry;

/* Those of this process. */
static entry *mine;
static cco_comm **states;
static int count, room;

static void arms_grow(void)
{
    room = 2 * room + 8;
    mine = realloc(mine, (size_t)room * sizeof *mine);
    states = realloc(states, (size_t)room * sizeof(cco_comm *));
    if (mine == NULL || states == NULL)
        cco_fatal("no memory for a race");
}

static void arms_add(cco_comm *state)
{
    const arms *a = cco_comm_attached(state, &key);
    if (a == NULL || !has_begins(state))
        return;
    if (count == room)
        arms_grow();
    states[count] = state;
    mine[count++] = (entry){cco_channel_carrier(&state->channel), (uint64_t)state->channel.number,
                            state->begins.count, a->waiting == CHANGES};
}

/* From the begin on that no rank has passed, unless there is no room for the change on some. */
static void change_at(cco_comm *state, const entry *own, const entry *all, int entries)
{
    arms *a = cco_comm_attached(state, &key);
    entry most = *own;
    for (int i = 0; i < entries; i++) {
        if (all[i].carrier != own->carrier || all[i].channel != own->channel)
            continue;
        if (all[i].begins > most.begins)
            most.begins = all[i].begins;
        most.full |= all[i].full;
    }
    if (most.full)
        return;
    a->changes[a->waiting++] = (change){(unsigned)most.begins, present};
    arms_watch(state, true);
}

/* A rank may have begun what another begins after this call.  So all tell all how many begins they
 * have made on each communicator.  (Those who share one cannot agree on it alone: some may have
 * freed it already.) */
static void agree_on_begins(MPI_Comm comm)
{
    cco_comm *state = cco_comm_find(comm);
    int most = 0, size = 0;
    count = 0;
    cco_comm_for_each(arms_add);
    PMPI_Comm_size(comm, &size);
    cco_race_complete(state, cco_service_allreduce(&count, &most, 1, MPI_INT, MPI_MAX, comm));
    if (most == 0)
        return;
    while (room < most)
        arms_grow();
    for (int i = count; i < most; i++)
        mine[i] = (entry){.carrier = 0};
    entry *all = malloc((size_t)size * (size_t)most * sizeof *all);
    if (all == NULL)
        cco_fatal("no memory for a race");
    cco_race_complete(state, cco_service_allgather(mine, all, (size_t)most * sizeof *all, comm));
    for (int i = 0; i < count; i++)
        change_at(states[i], &mine[i], all, size * most);
    free(all);
}

bool cco_arms_have_begins(void)
{
    count = 0;
    cco_comm_for_each(arms_add);
    return count > 0;
}

void cco_arms_switch(int arm, MPI_Comm comm)
{
    present = arm;
    cco_comm_for_each(arms_mark);
    if (comm != MPI_COMM_NULL)
        agree_on_begins(comm);
}

/* All begins that some rank made before a change have been made. */
void cco_arms_catch_up(cco_comm *state)
{
    arms *a = cco_comm_attached(state, &key);
    if (!(state->watched & CCO_WATCHED_ARM))
        return;
    take_arm(a, a->waiting > 0 ? a->changes[a->waiting - 1].arm : present);
    a->waiting = 0;
    arms_watch(state, false);
}

void cco_arms_follow_begin(cco_comm *state)
{
    arms *a = cco_comm_attached(state, &key);
    int due = 0;
    while (due < a->waiting && a->changes[due].at <= state->begins.count)
        due++;
    if (due == 0)
        return;
    take_arm(a, a->changes[due - 1].arm);
    a->waiting -= due;
    memmove(a->changes, a->changes + due, (size_t)a->waiting * sizeof *a->changes);
    arms_watch(state, a->waiting > 0);
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
    free(mine);
    free(states);
    mine = NULL;
    states = NULL;
    count = room = 0;
}
