/* SPDX-License-Identifier: BSD-3-Clause */
/* race.c - a race (CRESTA_RACE): implementations compared within the running program.
 *
 * First all blocking calls are watched, until the program's steps are known: a communicator with
 * all processes of the job (the anchor), and how many calls on it make a step.  Then arms, which
 * are sets of rules, take turns by blocks of steps, and what is measured is the time of the steps:
 * it contains waiting, imbalance and overlap besides the collectives.  Arms change in calls on the
 * anchor only.  Between rounds, outside of what is timed, the ranks add up their times, and rank 0
 * says how it goes on (race/judge.h).
 *
 * A program without steps has another kind of race, in which arms take turns by calls
 * (race/turns.h). */
#include <pthread.h>
#include <stdlib.h>

#include "config/config.h"
#include "base/log.h"
#include "mpi/service.h"
#include "mpi/ulfm.h"
#include "base/world.h"
#include "observe/observe.h"
#include "plan/arguments.h"
#include "race/arms.h"
#include "race/candidates.h"
#include "race/complete.h"
#include "race/online.h"
#include "race/output.h"
#include "race/rounds.h"
#include "race/turns.h"

typedef enum phase { NONE, LEARNS, RACES, OVER, TURNS /* by calls, to the end */ } phase;

static cco_race_settings settings;
static phase now = NONE;
static bool tells; /* this rank writes the output */

/* The anchor, and where the program is in its step. */
static struct anchor {
    cco_comm *state;
    int period;     /* calls of a step */
    int call;       /* of this step so far */
    bool lost;      /* the program does something else; a step has to begin first */
    int lost_calls; /* since then */
    uint64_t pattern[CCO_SEQUENCE_LONGEST];
} anchor;

enum { LOST = 256 }; /* calls without a step, after which CRESTA_ONLINE looks for other steps */

static bool race_read(char *error, size_t room)
{
    const char *text = cco_configured.race;
    const bool online = cco_configured.online, guard = cco_configured.guard;
    cco_race_settings_free(&settings);
    if (online || guard)
        cco_race_settings_preset(&settings);
    if (text != NULL && !cco_race_settings_read(&settings, text, !online && !guard, error, room))
        return false;
    cco_online_begin(&settings, online, guard);
    if (settings.arms > 0)
        cco_observe_switch(&cco_observer_race, 1);
    return true;
}

static const cco_rules *race_rules(int arm)
{
    return arm < settings.arms ? settings.arm[arm].rules : NULL;
}

/* On all ranks of a launch. */
static void race_refuse(void)
{
    if (!tells)
        return;
    cco_say("%s: nothing is compared: " CCO_ULFM_GOES_ON,
            cco_online_is_on() ? "CRESTA_ONLINE" : "CRESTA_RACE");
    if (settings.calls == 0)
        cco_race_output_open(settings.output);
    cco_race_tell_none(CCO_ULFM_GOES_ON, false);
}

static void race_begin(bool many_threads)
{
    int rank = 0;
    tells = cco_world_rank(&rank) && rank == 0;
    cco_race_output_begin();
    if (cco_ulfm()) { /* the ranks that are left would be in different blocks of a round */
        race_refuse();
        return;
    }
    if (settings.calls > 0) {
        cco_turns_begin(&settings);
        now = TURNS;
        return;
    }
    if (tells)
        cco_race_output_open(settings.output);
    if (many_threads && cco_online_is_on())
        cco_candidates_spoil();
    cco_arms_begin(&settings);
    now = LEARNS;
}

static void race_set_up(cco_comm *state)
{
    if (now == NONE)
        return;
    if (now == TURNS) {
        cco_turns_set_up(state);
        return;
    }
    cco_arms_set_up(state);
    if (now == LEARNS || (now == RACES && cco_candidate_is(state))) {
        state->watched |= CCO_WATCHED_CALLS;
        cco_comm_update(state);
    }
}

/* Candidates stay: one of them will tell if the anchor is lost. */
static void leave_alone(cco_comm *state)
{
    if (now == RACES && cco_candidate_is(state))
        return;
    state->watched &= ~CCO_WATCHED_CALLS;
    cco_comm_update(state);
}

static void race_stop(const char *why, MPI_Comm comm)
{
    now = OVER;
    cco_arms_switch(cco_rounds_home(), comm);
    if (tells)
        cco_race_tell_end(why);
    anchor.state = NULL;
    cco_comm_for_each(leave_alone);
}

static void race_watch(cco_comm *state)
{
    state->watched |= CCO_WATCHED_CALLS;
    cco_comm_update(state);
}

/* The steps are not what they were.  CRESTA_ONLINE looks for others. */
static void lose_steps(const char *why, MPI_Comm comm)
{
    cco_heat heat;
    if (!cco_online_is_on() || !cco_online_start(&settings, cco_rounds_home(), &heat)) {
        race_stop(why, comm);
        return;
    }
    now = LEARNS;
    cco_arms_switch(cco_rounds_home(), comm);
    anchor.state = NULL;
    cco_candidates_restart();
    cco_comm_for_each(race_watch);
}

static void end_step(void)
{
    if (cco_rounds_step())
        race_stop("verdict", anchor.state->comm);
}

/* In a call on the anchor.  If the program does something else there than it did, for a report or
 * another phase, it goes on with the reference, and the round begins again when the program has
 * come back to its step. */
static void race_follow(uint64_t word)
{
    if (settings.every_call > 0) {
        end_step();
        return;
    }
    if (word != anchor.pattern[anchor.call]) {
        anchor.call = 0;
        anchor.lost = true;
        cco_rounds_pause();
    }
    if (anchor.lost && cco_online_is_on() && ++anchor.lost_calls > LOST) {
        lose_steps("the program repeats its steps no more", anchor.state->comm);
        return;
    }
    if (word == anchor.pattern[anchor.call])
        anchor.call = (anchor.call + 1) % anchor.period;
    if (anchor.call > 0)
        return;
    if (!anchor.lost) {
        anchor.lost_calls = 0;
        end_step();
    } else if (word == anchor.pattern[anchor.period - 1]) {
        anchor.lost = false;
        cco_rounds_again();
    }
}

/* The communicator is freed.  Ranks may free theirs at different times, so nothing happens now: no
 * arm changes any more, until they meet on another candidate. */
static void lose_anchor(void *data)
{
    if (*(cco_comm **)data == anchor.state)
        anchor.state = NULL;
    free(data);
}

static void race_start(cco_comm *state, const cco_candidate *candidate, int period, cco_coll coll,
                       MPI_Count bytes)
{
    static const char key;
    cco_heat heat;
    const bool is_online = cco_online_is_on() &&
                           cco_online_start(&settings, cco_rounds_home(), &heat);
    anchor = (struct anchor){.state = state, .period = period};
    if (candidate != NULL)
        cco_candidate_pattern(candidate, anchor.pattern);
    cco_comm **freed = cco_comm_attach(state, &key, sizeof(cco_comm *), lose_anchor);
    *freed = state;
    tells = state->rank == 0; /* rank 0 of the world need not be first there */
    if (tells)
        cco_race_output_open(settings.output);
    now = RACES;
    cco_comm_for_each(leave_alone);
    if (tells)
        cco_race_tell_start(&settings, state, coll, bytes, period);
    cco_rounds_begin(&settings, state, is_online ? &heat : NULL);
}

/* A call on another communicator with all processes: has some rank lost the anchor? */
static void ask_for_anchor(cco_comm *state, cco_coll coll, MPI_Count bytes)
{
    const int lost = anchor.state == NULL;
    int any = 0;
    if (!cco_candidate_is_due(state) && settings.every_call == 0)
        return;
    cco_race_complete(state, cco_service_allreduce(&lost, &any, 1, MPI_INT, MPI_MAX, state->comm));
    if (any && settings.every_call > 0)
        race_start(state, NULL, 1, coll, bytes);
    else if (any)
        lose_steps("the program freed the communicator of its steps", state->comm);
}

/* Calls of several threads have no order that is the same on all ranks: there is no race then.  A
 * program that begins with that later gets a message, before ranks differ.  (CRESTA_ONLINE does
 * nothing if the program has asked for MPI_THREAD_MULTIPLE; otherwise threads take turns.) */
static bool is_one_thread(void)
{
    static pthread_t first;
    static bool known;
    if (!known)
        first = pthread_self();
    known = true;
    const bool one = cco_online_is_on() || pthread_equal(first, pthread_self());
    if (!one && now == RACES)
        cco_fatal("CRESTA_RACE: the program calls collectives from several threads; implementations"
                  " can only be compared in programs that call them from one thread");
    return one;
}

static void race_learn(cco_comm *state, cco_coll coll, MPI_Count bytes, uint64_t word)
{
    cco_candidate *candidate = cco_candidates_add(state, word);
    int period = 0;
    if (candidate != NULL)
        period = settings.every_call > 0
                     ? 1
                     : cco_candidate_period(candidate, 1e-3 * settings.watch_ms);
    if (period > 0)
        race_start(state, candidate, period, coll, bytes);
}

/* A call that the MPI refuses may be one rank's alone. */
static void race_before(cco_comm *state, const cco_call *call)
{
    if (!cco_arguments_valid(state, call))
        return;
    if (now != TURNS && !is_one_thread())
        cco_candidates_spoil();
    if (state->watched & CCO_WATCHED_ARM)
        cco_arms_catch_up(state);
    if (!(state->watched & CCO_WATCHED_CALLS))
        return;
    const MPI_Count bytes = cco_coll_infos[call->coll].properties & CCO_SIZED
                                ? cco_bytes(call, state->rank, state->size)
                                : 0;
    if (cco_online_is_on() && cco_online_concerns(call))
        cco_rounds_uses(call->coll);
    const uint64_t word = cco_mix((uint64_t)call->coll + 1, (uint64_t)cco_size_class(bytes));
    if (now == TURNS)
        cco_turns_call(state, call->coll, bytes);
    else if (now == LEARNS)
        race_learn(state, call->coll, bytes, word);
    else if (now == RACES && state == anchor.state)
        race_follow(word);
    else if (now == RACES)
        ask_for_anchor(state, call->coll, bytes);
}

static void race_after(cco_comm *state, const cco_call *call, void *kept, int rc)
{
    (void)kept, (void)rc;
    if (now == TURNS)
        cco_turns_called(state, call->coll);
}

static bool race_may_begin(void)
{
    return now == LEARNS || now == RACES;
}

static void race_begins_ready(cco_comm *state)
{
    if (race_may_begin())
        cco_arms_prepare_begins(state);
}

/* Also when the race is over: ranks may make one begin before and after. */
static void race_begun(cco_comm *state, const cco_call *call)
{
    (void)call;
    if (now == NONE || now == TURNS)
        return;
    is_one_thread();
    if (state->watched & CCO_WATCHED_ARM)
        cco_arms_follow_begin(state);
}

static void race_end(void)
{
    if (tells && now == LEARNS)
        cco_race_tell_none(cco_candidates_why(), cco_candidates_repeated());
    if (tells && now != NONE)
        cco_rounds_report(cco_candidates_why());
    if (tells && now == RACES)
        cco_race_tell_end("finalize");
    if (now == TURNS)
        cco_turns_end();
    now = NONE;
    cco_race_output_close();
    cco_arms_end();
    cco_candidates_forget();
    cco_rounds_end();
}

const cco_observer cco_observer_race = {.read = race_read,
                                        .rules = race_rules,
                                        .job_begin = race_begin,
                                        .job_end = race_end,
                                        .comm_ready = race_set_up,
                                        .comm_chosen = race_set_up,
                                        .begins_ready = race_begins_ready,
                                        .before = race_before,
                                        .after = race_after,
                                        .begun = race_begun,
                                        .may_begin = race_may_begin};
