/* SPDX-License-Identifier: BSD-3-Clause */
/* tell.c - see tell.h. */
#include "api/tell.h"

#include <stdio.h>

#include "api/process.h"
#include "core/config.h"
#include "core/log.h"
#include "model/flight.h"
#include "model/registry.h"

static void say_refused(const cco_comm *state, const cco_choice *choice, cco_coll coll)
{
    cco_log(CCO_LOG_WARN, "%s on communicator '%s': %s runs instead of what '%s' asks for: %s",
            cco_coll_infos[coll].name, state->name, choice->impl, choice->why, choice->refused);
}

/* Once per collective: a program may have thousands of communicators, and go on after errors. */
static bool first_time(cco_coll coll)
{
    static uint32_t told;
    const uint32_t bit = 1u << coll;
    return !(__atomic_fetch_or(&told, bit, __ATOMIC_RELAXED) & bit);
}

/* By world rank 0 alone. */
static void warn_refused(const cco_comm *state, const cco_choice *choice, cco_coll coll)
{
    if (cco_process_speaks() && first_time(coll))
        say_refused(state, choice, coll);
}

static void say_chosen(const cco_comm *state, const cco_choice *choice, cco_coll coll,
                       MPI_Count bytes)
{
    cco_log(CCO_LOG_INFO, "%s on communicator '%s' (%d processes): %s for %lld bytes (%s)%s",
            cco_coll_infos[coll].name, state->name, state->size, choice->impl, (long long)bytes,
            choice->why, state->choices[coll].count > 1 ? "; other sizes may differ" : "");
}

bool cco_tell(cco_comm *state, const cco_choice *choice, cco_coll coll, MPI_Count bytes)
{
    const bool refused = choice->refused != NULL;
    if (refused && cco_configured.fallback == CCO_FALLBACK_ERROR) {
        if (state->rank == 0 && first_time(coll))
            cco_say("%s on communicator '%s': CRESTA_FALLBACK=error, and what '%s' asks for cannot"
                    " be had: %s",
                    cco_coll_infos[coll].name, state->name, choice->why, choice->refused);
        return false;
    }
    /* While no choice with something to say has come up, another size may bring it. */
    if (refused || state->choices[coll].count == 1 || cco_configured.log >= CCO_LOG_INFO)
        state->untold &= ~(1u << coll);
    if (refused && cco_configured.fallback == CCO_FALLBACK_WARN)
        warn_refused(state, choice, coll);
    if (state->rank == 0)
        say_chosen(state, choice, coll, bytes);
    return true;
}

/* Why a call that could be a schedule of ours is the MPI's. */
static const char *grounded(const cco_comm *state, const cco_choice *choice)
{
    if (choice->way.model->algorithms == NULL)
        return "";
    if (state->size == 1)
        return ": there is one process";
    return state->flies ? ": the operation is the program's"
                        : ": there is no helper thread (CRESTA_ASYNC=thread)";
}

static void say_how(const cco_comm *state, const cco_choice *choice, const cco_call *call,
                    char *text, size_t room)
{
    const cco_model *model = choice->way.model;
    if (model == &cco_model_mpi || model == &cco_model_nonblock)
        snprintf(text, room, "nonblock runs");
    else if (!cco_flight_takes(state, &choice->way, call))
        snprintf(text, room, "nonblock runs instead of %s%s", choice->impl,
                 grounded(state, choice));
    else if (model == &cco_model_p2p)
        snprintf(text, room, "%s runs", choice->impl);
    else
        snprintf(text, room, "p2p runs instead of %s", choice->impl);
}

void cco_tell_split(cco_comm *state, const cco_call *call)
{
    const uint32_t bit = 1u << call->coll;
    if (cco_configured.log < CCO_LOG_INFO || state->told_split & bit)
        return;
    state->told_split |= bit;
    if (state->rank != 0)
        return;
    const cco_choice *choice = cco_choose(state, call->coll,
                                          cco_bytes(call, state->rank, state->size));
    char what[192];
    say_how(state, choice, call, what, sizeof what);
    cco_log(CCO_LOG_INFO, "%s_begin on communicator '%s' (%d processes): split-phase: %s",
            cco_coll_infos[call->coll].name, state->name, state->size, what);
}
