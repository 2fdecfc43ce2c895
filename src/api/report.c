/* SPDX-License-Identifier: BSD-3-Clause */
/* report.c - see report.h. */
#include "api/report.h"

#include <stdio.h>

#include "config/config.h"
#include "comm/fallback.h"
#include "base/log.h"
#include "base/pause.h"
#include "wait/polite.h"
#include "base/world.h"
#include "plan/arguments.h"
#include "tune/topology.h"

static uint32_t reported, reported_forbidden; /* bit per collective */

/* By world rank 0 alone, except where the job may end.  False if the choice must not run. */
static bool report_refused(const cco_comm *state, const cco_choice *choice, cco_coll coll)
{
    const bool error = cco_configured.fallback == CCO_FALLBACK_ERROR || choice->way.exact;
    const cco_fallback fallback = {.call = cco_coll_infos[coll].name,
                                   .asked = choice->why,
                                   .why = choice->refused,
                                   .instead = choice->impl,
                                   .reports = error ? state->rank == 0 : cco_world_reports(),
                                   .forbidden = choice->way.exact};
    return cco_fall_back(state, &fallback, &reported, (int)coll) == MPI_SUCCESS;
}

static void say_chosen(const cco_comm *state, const cco_choice *choice, cco_coll coll,
                       MPI_Count bytes)
{
    const char *others = state->chosen.classed >> coll & 1  ? "; other calls may differ"
                         : state->chosen.of[coll].count > 1 ? "; other sizes may differ"
                                                            : "";
    cco_log(CCO_LOG_INFO, "%s on communicator '%s' (%d rank%s): %s for %lld byte%s (%s)%s",
            cco_coll_infos[coll].name, state->name, state->size, cco_plural(state->size),
            choice->impl, (long long)bytes, cco_plural(bytes), choice->why, others);
}

/* A choice that must not run, ever: every call that would take it is refused. */
static bool any_forbidden(const cco_choices *choices)
{
    for (int i = 0; i < choices->count; i++)
        if (choices->list[i].refused != NULL && choices->list[i].way.exact)
            return true;
    return false;
}

bool cco_report_call(cco_comm *state, const cco_call *call)
{
    const cco_coll coll = call->coll;
    if (!(state->chosen.to_report >> coll & 1))
        return true;
    cco_topology_warn(state, coll);
    const MPI_Count bytes = cco_bytes(call, state->rank, state->size);
    const cco_choice *choice = cco_choose_by_call(state, call, bytes);
    const bool refused = choice->refused != NULL;
    if (refused && !report_refused(state, choice, coll))
        return false;
    /* While no choice with something to say has come up, another size may bring it. */
    const bool last = refused || state->chosen.of[coll].count == 1 ||
                      cco_configured.log >= CCO_LOG_INFO;
    if (last && !any_forbidden(&state->chosen.of[coll]))
        state->chosen.to_report &= ~(1u << coll);
    cco_comm_update(state);
    if (state->rank == 0)
        say_chosen(state, choice, coll, bytes);
    return true;
}

void cco_report_forbidden_begin(const cco_comm *state, const cco_choice *choice, cco_coll coll,
                                const char *why)
{
    char call[64];
    snprintf(call, sizeof call, "%s_begin", cco_coll_infos[coll].name);
    const cco_fallback fallback = {.call = call,
                                   .asked = choice->why,
                                   .why = why,
                                   .instead = "nonblock",
                                   .reports = state->rank == 0,
                                   .forbidden = choice->way.exact};
    cco_fall_back(state, &fallback, &reported_forbidden, (int)coll);
}

static void say_how(const cco_comm *state, const cco_choice *choice, const cco_begin_path *begin,
                    char *text, size_t room)
{
    const cco_model *model = choice->way.model;
    const bool alone = state->size == 1 && model->path != NULL;
    const char *why = alone ? "there is one process" : begin->why;
    const char *runs = begin->path == CCO_PATH_NONE       ? "nonblock"
                       : why == NULL                      ? choice->impl
                       : begin->path == CCO_PATH_MESSAGES ? "p2p"
                                                          : "copy=slots";
    if (model->begins_plainly || (why == NULL && begin->path != CCO_PATH_NONE))
        snprintf(text, room, "%s runs", runs);
    else
        snprintf(text, room, "%s runs instead of %s%s%s", runs, choice->impl,
                 why != NULL ? ": " : "", why != NULL ? why : "");
}

void cco_report_begin(cco_comm *state, const cco_choice *choice, const cco_begin_path *begin,
                      cco_coll coll)
{
    const uint32_t bit = 1u << coll;
    if (cco_configured.log < CCO_LOG_INFO || state->begins.reported & bit)
        return;
    state->begins.reported |= bit;
    if (state->rank != 0)
        return;
    char what[192];
    say_how(state, choice, begin, what, sizeof what);
    cco_log(CCO_LOG_INFO, "%s_begin on communicator '%s' (%d rank%s): split-phase: %s",
            cco_coll_infos[coll].name, state->name, state->size, cco_plural(state->size), what);
}

void cco_report_waits(void)
{
    if (cco_pause_crowds() && cco_world_reports())
        cco_log(CCO_LOG_INFO, "blocking calls of the program wait %s (CRESTA_WAIT)",
                cco_waits_politely() ? "politely" : "as the MPI does");
}
