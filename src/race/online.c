/* SPDX-License-Identifier: BSD-3-Clause */
/* online.c - see online.h. */
#include "race/online.h"

#include <stdio.h>
#include <string.h>

#include "reduce/classes.h"
#include "call/collectives.h"
#include "base/log.h"

/* Models that may be better than the MPI's own calls, the likeliest first. */
static const char *const models[] = {"shm", "p2p", "nonblock"};
enum { MODELS = sizeof models / sizeof models[0] };

/* Reductions that give the same bits in any order. */
static const char exact[] = "{type=integer&operation=predefined}";

/* What an arm stands for: a model for these collectives. */
typedef struct meaning {
    const char *model;
    uint32_t collectives;
} meaning;

typedef enum phase { COMPARE_MODELS, COMPARE_PARTS, GUARD } phase;

static struct {
    bool tunes, guards;
    phase phase;
    int first_arms; /* what is chosen anyway, and the models */
    int guard_arm;
    meaning of[CCO_ARMS];
} online;

bool cco_online_is_on(void)
{
    return online.tunes || online.guards;
}

const char *cco_online_variable(int arm)
{
    const bool guards = !online.tunes || (online.guards && arm == online.guard_arm);
    return guards ? "CRESTA_GUARD" : "CRESTA_ONLINE";
}

static bool online_reduces(cco_coll coll)
{
    return cco_coll_infos[coll].properties & CCO_REDUCTION;
}

/* The standard wants the same type and the same operation on all ranks, and types of its own with
 * its own operations: so all ranks come to the same answer. */
bool cco_online_concerns(const cco_call *call)
{
    const unsigned wanted = CCO_TYPE_INTEGER | CCO_OP_PREDEFINED;
    return !online_reduces(call->coll) || (cco_classes_of(call) & wanted) == wanted;
}

static uint32_t all_collectives(void)
{
    return cco_colls(false);
}

static uint32_t online_reductions(void)
{
    uint32_t found = 0;
    for (int coll = 0; coll < CCO_COLLECTIVES; coll++)
        found |= (uint32_t)online_reduces((cco_coll)coll) << coll;
    return found;
}

static void write_rules(const meaning *m, uint32_t used, char *text, size_t room)
{
    size_t at = 0;
    *text = '\0';
    for (int coll = 0; coll < CCO_COLLECTIVES && at < room; coll++)
        if (m->collectives & used & 1u << coll)
            at += (size_t)snprintf(text + at, room - at, "%s%s%s=%s", at > 0 ? "," : "",
                                   cco_coll_infos[coll].name,
                                   online_reduces((cco_coll)coll) ? exact : "", m->model);
}

static int add_arm(cco_race_settings *s, const char *name, meaning m, cco_rules_place place)
{
    char text[1024], wrong[256];
    cco_race_arm *arm = &s->arm[s->arms];
    write_rules(&m, ~0u, text, sizeof text);
    *arm = (cco_race_arm){.place = place};
    snprintf(arm->name, sizeof arm->name, "%s", name);
    arm->rules = cco_rules_parse(text, "CRESTA_ONLINE", wrong, sizeof wrong);
    if (arm->rules == NULL)
        cco_fatal("CRESTA_ONLINE: %s", wrong); /* no memory */
    online.of[s->arms] = m;
    return s->arms++;
}

void cco_online_begin(cco_race_settings *s, bool tunes, bool guards)
{
    const uint32_t all = all_collectives();
    memset(&online, 0, sizeof online);
    online.tunes = tunes;
    online.guards = guards;
    if (!cco_online_is_on())
        return;
    if (s->regret <= 0)
        s->regret = 0.02;
    if (s->guard <= 0)
        s->guard = 0.01;
    s->arm[0] = (cco_race_arm){.name = "chosen", .place = CCO_BEFORE_ALL};
    s->arms = 1;
    for (int i = 0; i < MODELS && tunes; i++)
        add_arm(s, models[i], (meaning){models[i], all}, CCO_AFTER_PROGRAMS);
    online.first_arms = s->arms;
    if (guards)
        online.guard_arm = add_arm(s, "mpi", (meaning){"mpi", all}, CCO_BEFORE_ALL);
}

static bool online_guard(int best, cco_heat *heat)
{
    if (!online.guards || best == online.guard_arm)
        return false;
    online.phase = GUARD;
    *heat = (cco_heat){CCO_GUARD, best, 1u << best | 1u << online.guard_arm};
    return true;
}

bool cco_online_start(cco_race_settings *s, int best, cco_heat *heat)
{
    /* Arms, for what may follow; collectives of neighbors are no parts of a search. */
    enum { NEEDED = CCO_NEIGHBOR_ALLGATHER + 1 };
    if (!online.tunes)
        return online_guard(best, heat);
    if (s->arms + NEEDED > CCO_ARMS)
        return false;
    online.phase = COMPARE_MODELS;
    *heat = (cco_heat){CCO_FIND_BEST, 0, (1u << online.first_arms) - 1};
    return true;
}

/* The best model without one of the collectives. */
static bool compare_parts(cco_race_settings *s, int best, uint32_t used, cco_heat *heat)
{
    const meaning whole = online.of[best];
    const uint32_t parts = whole.collectives & used;
    if (best == 0 || (parts & (parts - 1)) == 0)
        return false;
    online.phase = COMPARE_PARTS;
    *heat = (cco_heat){CCO_FIND_PARTS, best, 1u << best};
    for (int coll = 0; coll < CCO_COLLECTIVES; coll++) {
        char name[32];
        if (!(parts >> coll & 1) || s->arms >= CCO_ARMS - 1)
            continue;
        snprintf(name, sizeof name, "%.6s-%.22s", whole.model, cco_coll_infos[coll].name);
        heat->alive |= 1u << add_arm(s, name,
                                     (meaning){whole.model, whole.collectives & ~(1u << coll)},
                                     CCO_AFTER_PROGRAMS);
    }
    return true;
}

bool cco_online_next(cco_race_settings *s, int best, uint32_t open, uint32_t used, cco_heat *heat)
{
    if (online.phase == COMPARE_MODELS && open != 0) {
        *heat = (cco_heat){CCO_FIND_BEST, best, 1u << best | open};
        return true;
    }
    if (online.phase == COMPARE_MODELS && compare_parts(s, best, used, heat))
        return true;
    return online.phase != GUARD && online_guard(best, heat);
}

int cco_online_trim(cco_race_settings *s, int arm, uint32_t used)
{
    meaning m = online.of[arm];
    const uint32_t unused = m.collectives & online_reductions() & ~used;
    const bool tuned = arm != 0 && !(online.guards && arm == online.guard_arm);
    if (!tuned || unused == 0 || s->arms >= CCO_ARMS)
        return arm;
    m.collectives &= ~unused;
    return add_arm(s, s->arm[arm].name, m, CCO_AFTER_PROGRAMS);
}

void cco_online_combine(cco_race_settings *s, uint32_t parts)
{
    meaning m = online.of[__builtin_ctz(parts)];
    for (int arm = 0; arm < s->arms; arm++)
        if (parts >> arm & 1)
            m.collectives &= online.of[arm].collectives;
    add_arm(s, "combined", m, CCO_AFTER_PROGRAMS);
}

void cco_online_rules(int arm, uint32_t used, char *text, size_t room)
{
    write_rules(&online.of[arm], used, text, room);
}
