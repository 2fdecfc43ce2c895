/* SPDX-License-Identifier: BSD-3-Clause */
/* choose.c - see choose.h. */
#include "tune/choose.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algo/algo.h"
#include "reduce/classes.h"
#include "config/config.h"
#include "comm/facts.h"
#include "base/kept_text.h"
#include "base/world.h"
#include "native/defects.h"
#include "model/registry.h"
#include "tune/impl.h"
#include "tune/nodes.h"
#include "tune/topology.h"
#include "tune/tuning_file.h"

static cco_rules *user_rules, *tuning_rules, *builtin_rules;

void cco_choose_needs(const cco_rules *rules)
{
    for (int i = 0; rules != NULL && i < rules->count; i++)
        cco_model_name(rules->list[i].model);
    cco_nodes_wanted_by(rules);
}

static void choose_take(cco_rules **place, cco_rules *rules)
{
    free(*place);
    *place = rules;
    cco_job.chosen = cco_job.chosen || !cco_rules_are_plain(rules);
    cco_job.mends = cco_job.mends || cco_rules_may_replace(rules);
    cco_choose_needs(rules);
}

void cco_choose_read(void)
{
    cco_config *c = &cco_configured;
    char wrong[1024] = "";
    /* The word alone is no rule of the user's: it would go before those of the program. */
    const bool automatic = strcmp(c->impl, CCO_IMPL_AUTO) == 0;
    choose_take(&builtin_rules,
                cco_rules_parse(automatic ? CCO_DEFAULT_IMPL "\n*=" CCO_IMPL_AUTO
                                                             "\nneighbor_*=" CCO_IMPL_AUTO
                                          : CCO_DEFAULT_IMPL,
                                "built in", wrong, sizeof wrong));
    choose_take(&user_rules, c->error[0] ? NULL
                                         : cco_rules_parse(automatic ? "" : c->impl, c->impl_source,
                                                           wrong, sizeof wrong));
    if (wrong[0] && !c->error[0])
        memcpy(c->error, wrong, sizeof wrong);
    cco_job.chosen = cco_job.chosen || c->reproducible;
    cco_job.wishes = cco_job.chosen || c->profile != NULL || c->watchdog.on ||
                     c->watchdog_signal != 0;
    if (c->profile != NULL) /* which says what goes between nodes */
        cco_nodes_want();
}

static void choose_take_tuning(cco_rules *rules)
{
    choose_take(&tuning_rules, rules);
    cco_job.asked = cco_job.asked || cco_job.chosen;
}

void cco_choose_tuning_shared(void)
{
    if (cco_configured.tuning != NULL)
        choose_take_tuning(cco_tuning_share(MPI_COMM_WORLD));
}

void cco_choose_tuning_own(void)
{
    if (cco_configured.tuning != NULL)
        choose_take_tuning(cco_tuning_own());
}

static const char *choose_refusal(const cco_way *way, cco_coll coll, const cco_comm *state)
{
    if (state->facts.device && way->model->touches && coll != CCO_BARRIER)
        return "buffers may lie in a GPU's memory (CRESTA_DEVICE_MEMORY)";
    const char *why = cco_topology_refuses(state, way, coll);
    if (why != NULL)
        return why;
    return way->model->refuses != NULL ? way->model->refuses(way, coll, state->size) : NULL;
}

/* The ladder: from what a rule names to what can do the collective here. */
static void go_down(cco_choice *choice, cco_coll coll, const cco_comm *state)
{
    const char *why;
    while ((why = choose_refusal(&choice->way, coll, state)) != NULL) {
        const bool picky = choice->way.algo != NULL; /* the model may know another */
        if (choice->way.automatic) {
            choice->way = (cco_way){.model = cco_models[0]};
            choice->impl = cco_models[0]->name;
            return;
        }
        choice->refused = why;
        if (picky)
            choice->way.algo = NULL;
        else
            choice->way = (cco_way){.model = choice->way.model->below};
        choice->impl = choice->way.model->name;
    }
}

/* Where the MPI's own call, which the rule does not name, is wrong on this topology, ours runs; of
 * what no MPI has, also where the rule names it. */
static void replace_wrong(cco_choice *choice, cco_coll coll, const cco_comm *state, bool automatic)
{
    const cco_way ours = {.model = &cco_model_p2p};
    if (!cco_is_neighbor(coll) || choice->way.model != cco_models[0] ||
        (choice->refused == NULL && !automatic && !cco_is_ours(coll)) ||
        cco_neighbor_defect(coll, &state->topology, true) == NULL ||
        choose_refusal(&ours, coll, state) != NULL)
        return;
    choice->way = ours;
    choice->impl = ours.model->name;
}

/* What must be reported: not what goes to another model, if nobody wants to hear that. */
static bool any_refused(const cco_choices *choices)
{
    const bool silent = cco_configured.fallback == CCO_FALLBACK_SILENT;
    for (int i = 0; i < choices->count; i++)
        if (choices->list[i].refused != NULL && (!silent || choices->list[i].way.exact))
            return true;
    return false;
}

/* Adds the rules that match to `choices`; true once one takes every size. */
static bool add_rules(cco_choices *choices, const cco_rules *rules, cco_coll coll,
                      const cco_comm *state)
{
    for (int i = 0; rules != NULL && i < rules->count; i++) {
        const cco_rule *rule = &rules->list[i];
        if (!cco_rule_matches(rule, coll, state->name, state->size) ||
            !cco_rule_fits_nodes(rule, &state->nodes))
            continue;
        cco_choice *choice = &choices->list[choices->count++];
        *choice = (cco_choice){.min = rule->min, .max = rule->max, .classes = rule->classes};
        cco_rule_way(rule, coll, &choice->way);
        choice->impl = rule->kept_impl;
        choice->why = rule->kept_why;
        go_down(choice, coll, state);
        replace_wrong(choice, coll, state, rule->automatic);
        if (rule->min == 0 && rule->max == LLONG_MAX && rule->classes == 0)
            return true;
    }
    return false;
}

/* What runs without a rule: the MPI's own call, or ours of what no MPI has. */
static cco_choice without_rule(cco_coll coll, const cco_comm *state)
{
    const cco_way ours = {.model = &cco_model_p2p};
    const bool here = cco_is_ours(coll) && state->topology.near != NULL &&
                      choose_refusal(&ours, coll, state) == NULL;
    cco_choice choice = {.max = LLONG_MAX, .way.model = cco_models[0], .why = "no rule"};
    if (here)
        choice.way = ours;
    choice.impl = choice.way.model->name;
    return choice;
}

#define EXACT "exact" /* the algorithm */

/* What the same choice is for sums and products that round, where these are to be reproducible: the
 * algorithm "exact" of its model, or else of one that has it. */
static cco_choice exact_choice(const cco_choice *choice, cco_coll coll, const cco_comm *state)
{
    const cco_model *const models[] = {choice->way.model, &cco_model_shm, &cco_model_p2p};
    cco_choice exact = *choice;
    exact.refused = NULL;
    exact.classes |= CCO_OP_ROUNDING;
    for (int i = 0; i < (int)(sizeof models / sizeof models[0]); i++) {
        exact.way = (cco_way){
            .model = models[i], .algo = cco_algo_named(coll, EXACT, strlen(EXACT)), .exact = true};
        if (models[i] == choice->way.model)
            memcpy(exact.way.options, choice->way.options, sizeof exact.way.options);
        exact.refused = models[i]->algorithms == NULL ? "it has no algorithms of ours"
                                                      : choose_refusal(&exact.way, coll, state);
        if (exact.refused == NULL)
            break;
    }
    exact.impl = cco_kept_text(exact.way.model->name, ":", EXACT);
    exact.why = cco_kept_text("CRESTA_REPRODUCIBLE=1; for others ", choice->why, "");
    return exact;
}

/* Before each choice comes another one, for what rounds.  False if memory runs out. */
static bool make_reproducible(cco_choices *choices, cco_coll coll, const cco_comm *state)
{
    if (!cco_configured.reproducible || state->size == 1 ||
        !(cco_coll_infos[coll].properties & CCO_REDUCTION) ||
        cco_algo_named(coll, EXACT, strlen(EXACT)) == NULL)
        return true;
    cco_choice *list = calloc(2 * (size_t)choices->count, sizeof *list);
    if (list == NULL)
        return false;
    for (int i = 0; i < choices->count; i++) {
        list[2 * i] = exact_choice(&choices->list[i], coll, state);
        list[2 * i + 1] = choices->list[i];
    }
    free(choices->list);
    choices->list = list;
    choices->count *= 2;
    return true;
}

enum { SOURCES = 6 };

/* Room for the choices of any collective: one for each rule, and one without a rule. */
static cco_choice *choose_make_room(const cco_rules *const sources[SOURCES])
{
    size_t most = 1;
    for (int i = 0; i < SOURCES; i++)
        most += sources[i] != NULL ? (size_t)sources[i]->count : 0;
    return malloc(most * sizeof(cco_choice));
}

/* `choices` are made in `room`, which is for all rules, and kept in as much as they need: there may
 * be thousands of communicators. */
static bool choose_choose(cco_comm *state, const cco_rules *const sources[SOURCES], cco_coll coll,
                          cco_choice *room)
{
    cco_choices *choices = &state->chosen.of[coll];
    *choices = (cco_choices){.list = room};
    const bool alone = state->size == 1 && !cco_has_world(); /* see cco_agree */
    const bool lost = cco_is_neighbor(coll) &&
                      state->topology.near == NULL; /* as the MPI will say */
    bool all = false;
    for (int i = 0; i < SOURCES && !alone && !lost && !all; i++)
        all = add_rules(choices, sources[i], coll, state);
    if (cco_is_neighbor(coll) && choices->count > 0)
        state->topology.ruled |= 1u << coll;
    if (!all)
        choices->list[choices->count++] = without_rule(coll, state);
    const size_t bytes = (size_t)choices->count * sizeof *room;
    choices->list = malloc(bytes);
    if (choices->list == NULL)
        choices->count = 0;
    else
        memcpy(choices->list, room, bytes);
    return choices->list != NULL;
}

bool cco_choose_for(cco_comm *state)
{
    return cco_choose_with(state, NULL, CCO_BEFORE_ALL);
}

bool cco_choose_with(cco_comm *state, const cco_rules *more, cco_rules_place place)
{
    const bool told = cco_configured.log >= CCO_LOG_INFO;
    const cco_rules *const sources[SOURCES] = {place == CCO_BEFORE_ALL ? more : NULL,
                                               place == CCO_INSTEAD_OF_USERS ? more : user_rules,
                                               tuning_rules,
                                               state->chosen.program_rules,
                                               place == CCO_AFTER_PROGRAMS ? more : NULL,
                                               builtin_rules};
    cco_comm_drop_choices(state);
    state->chosen.plain = state->chosen.sized = state->chosen.classed = state->topology.ruled = 0;
    state->chosen.to_report = told ? (1u << CCO_COLLECTIVES) - 1 : 0;
    cco_choice *room = choose_make_room(sources);
    bool all = room != NULL;
    for (int coll = 0; all && coll < CCO_COLLECTIVES; coll++)
        all = choose_choose(state, sources, (cco_coll)coll, room) &&
              make_reproducible(&state->chosen.of[coll], (cco_coll)coll, state);
    free(room);
    for (int coll = 0; all && coll < CCO_COLLECTIVES; coll++) {
        const cco_choices *choices = &state->chosen.of[coll];
        const bool wrong = cco_topology_is_wrong(state, (cco_coll)coll);
        if (choices->count == 1 && choices->list[0].way.model == cco_models[0] && !told &&
            choices->list[0].refused == NULL && !wrong)
            state->chosen.plain |= 1u << coll;
        if (choices->count > 1)
            state->chosen.sized |= 1u << coll;
        for (int i = 0; i < choices->count; i++)
            state->chosen.classed |= (unsigned)(choices->list[i].classes != 0) << coll;
        if (wrong || any_refused(choices))
            state->chosen.to_report |= 1u << coll;
    }
    cco_comm_update(state);
    return all;
}
