/* SPDX-License-Identifier: BSD-3-Clause */
/* arms.c - see arms.h. */
#include "race/arms.h"

#include <stdlib.h>
#include <string.h>

#include "core/log.h"
#include "progress/path.h"
#include "tune/choose.h"

/* What is chosen for a communicator: what is in its state under the arm that it has. */
typedef struct chosen {
    bool made;
    cco_choices choices[CCO_COLLECTIVES];
    uint32_t plain, sized, to_report;
} chosen;

/* Attached to a communicator. */
typedef struct arms {
    cco_comm *state;
    int arm;
    chosen of[CCO_ARMS]; /* all but that one */
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
}

static void mark(cco_comm *state)
{
    const arms *a = cco_comm_attached(state, &key);
    if (a == NULL)
        return;
    if (a->arm != present)
        state->watched |= CCO_WATCHED_ARM;
    else
        state->watched &= ~CCO_WATCHED_ARM;
    cco_comm_update(state);
}

void cco_arms_switch(int arm)
{
    present = arm;
    cco_comm_for_each(mark);
}

void cco_arms_catch_up(cco_comm *state)
{
    arms *a = cco_comm_attached(state, &key);
    if (!(state->watched & CCO_WATCHED_ARM))
        return;
    state->watched &= ~CCO_WATCHED_ARM;
    put_away(&a->of[a->arm], state);
    load(a, present);
    if (state->begins_ready)
        cco_paths_prepare(state);
    cco_comm_update(state);
}
