/* SPDX-License-Identifier: BSD-3-Clause */
/* race.c - see race.h. */
#include "race/race.h"

#include <pthread.h>
#include <stdlib.h>

#include "core/clock.h"
#include "core/log.h"
#include "core/wait.h"
#include "core/world.h"
#include "race/arms.h"
#include "race/candidates.h"
#include "race/judge.h"
#include "race/output.h"

typedef enum phase { NONE, LEARNS, RACES, OVER } phase;

static cco_race_settings settings;
static phase now = NONE;
static bool tells; /* this rank writes the output */

/* The anchor, and where the program is in its step. */
static struct {
    cco_comm *state;
    int period; /* calls of a step */
    int call;   /* of this step so far */
    bool lost;  /* the program does something else; a step has to begin first */
    uint64_t pattern[CCO_SEQUENCE_LONGEST];
} anchor;

/* The round that is on. */
static struct {
    cco_judge *judge; /* of rank 0; elsewhere only `next` is of use */
    cco_race_next next;
    int8_t order[CCO_BLOCKS];
    int blocks, block;          /* how many, and which is on */
    int steps;                  /* of it so far */
    double since;               /* when it began */
    double seconds[CCO_BLOCKS]; /* of each block, on this rank */
    bool begins;                /* some rank has a communicator with begins */
    double first_s[CCO_BLOCKS]; /* of the first step of an arm, which is not in `seconds` */
} round;

bool cco_race_read(const char *text, char *error, size_t room)
{
    cco_race_settings_free(&settings);
    return text == NULL || cco_race_settings_read(&settings, text, error, room);
}

int cco_race_arms(void)
{
    return settings.arms;
}

const cco_rules *cco_race_rules(int arm)
{
    return settings.arm[arm].rules;
}

void cco_race_begin(void)
{
    int rank = 0;
    if (settings.arms == 0)
        return;
    tells = cco_world_rank(&rank) && rank == 0;
    cco_race_output_begin();
    if (tells)
        cco_race_output_open(settings.output);
    cco_arms_begin(&settings);
    now = LEARNS;
}

void cco_race_set_up(cco_comm *state)
{
    if (now == NONE)
        return;
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

/* The first block of a round begins, or the next. */
static void start_block(void)
{
    cco_arms_switch(round.order[round.block], round.begins ? anchor.state->comm : MPI_COMM_NULL);
    if (anchor.state->watched & CCO_WATCHED_ARM)
        cco_arms_catch_up(anchor.state);
    if (tells && round.next.stage == CCO_RACE_WARM)
        cco_race_tell_first(round.order[round.block]);
    round.steps = 0;
    round.since = cco_seconds();
}

static void complete(int rc, MPI_Request *request)
{
    if (rc == MPI_SUCCESS)
        rc = cco_wait(request);
    if (rc != MPI_SUCCESS)
        cco_fatal("CRESTA_RACE: the MPI's collective on communicator '%s' failed",
                  anchor.state->name);
}

static bool any_begins(void)
{
    MPI_Request request;
    const int mine = cco_arms_have_begins();
    int any = 0;
    complete(PMPI_Iallreduce(&mine, &any, 1, MPI_INT, MPI_MAX, anchor.state->comm, &request),
             &request);
    return any;
}

static void start_round(void)
{
    round.begins = any_begins();
    round.blocks = cco_race_order((uint64_t)settings.seed, &round.next, round.order);
    round.block = 0;
    start_block();
}

static void stop(const char *why, MPI_Comm comm)
{
    now = OVER;
    cco_arms_switch(0, comm);
    if (tells)
        cco_race_tell_end(why);
    anchor.state = NULL;
    cco_comm_for_each(leave_alone);
}

/* The mean over the ranks of the seconds of a step in each block. */
static void average(int blocks, const double *mine, double *mean)
{
    MPI_Request request;
    complete(PMPI_Iallreduce(mine, mean, blocks, MPI_DOUBLE, MPI_SUM, anchor.state->comm, &request),
             &request);
    for (int i = 0; i < blocks; i++)
        mean[i] /= anchor.state->size;
}

/* Rank 0 says how it goes on. */
static void decide(const double *step_s)
{
    MPI_Request request;
    if (anchor.state->rank == 0) {
        cco_judge_round(round.judge, round.blocks, round.order, step_s, cco_seconds());
        if (tells)
            cco_race_tell_next(round.judge, &round.next);
        round.next = round.judge->next;
    }
    complete(PMPI_Ibcast(&round.next, sizeof round.next, MPI_BYTE, 0, anchor.state->comm, &request),
             &request);
}

static void end_round(void)
{
    double step_s[CCO_BLOCKS], first_s[CCO_BLOCKS];
    const bool warm = round.next.stage == CCO_RACE_WARM;
    for (int i = 0; i < round.blocks; i++)
        round.seconds[i] /= round.next.steps - warm;
    average(round.blocks, round.seconds, step_s);
    if (warm)
        average(round.blocks, round.first_s, first_s);
    for (int i = 0; tells && warm && i < round.blocks; i++)
        cco_race_tell_warm(round.order[i], first_s[i]);
    if (tells && !warm)
        cco_race_tell_round(&round.next, round.blocks, round.order, step_s);
    decide(step_s);
    if (round.next.stage == CCO_RACE_OVER)
        stop("verdict", anchor.state->comm);
    else
        start_round();
}

/* A step has ended: in most of them nothing else happens. */
static void end_step(void)
{
    round.steps++;
    if (round.next.stage == CCO_RACE_WARM && round.steps == 1) {
        const double seconds = cco_seconds();
        round.first_s[round.block] = seconds - round.since;
        round.since = seconds;
    }
    if (round.steps < round.next.steps)
        return;
    round.seconds[round.block] = cco_seconds() - round.since;
    if (++round.block < round.blocks)
        start_block();
    else
        end_round();
}

/* In a call on the anchor.  If the program does something else there than it did, for a report or
 * another phase, it goes on with the reference, and the round begins again when the program has
 * come back to its step. */
static void follow(uint64_t word)
{
    if (settings.every_call > 0) {
        end_step();
        return;
    }
    if (word != anchor.pattern[anchor.call]) {
        anchor.call = 0;
        anchor.lost = true;
        cco_arms_switch(0, anchor.state->comm);
    }
    if (word == anchor.pattern[anchor.call])
        anchor.call = (anchor.call + 1) % anchor.period;
    if (anchor.call > 0)
        return;
    if (!anchor.lost) {
        end_step();
    } else if (word == anchor.pattern[anchor.period - 1]) {
        anchor.lost = false;
        start_round();
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

static void start(cco_comm *state, const cco_candidate *candidate, int period, cco_coll coll,
                  MPI_Count bytes)
{
    static const char key;
    anchor.state = state;
    anchor.period = period;
    if (candidate != NULL)
        cco_candidate_pattern(candidate, anchor.pattern);
    cco_comm **freed = cco_comm_attach(state, &key, sizeof(cco_comm *), lose_anchor);
    *freed = state;
    tells = state->rank == 0; /* rank 0 of the world need not be first there */
    if (tells)
        cco_race_output_open(settings.output);
    now = RACES;
    cco_comm_for_each(leave_alone);
    free(round.judge);
    round.judge = calloc(1, sizeof *round.judge);
    if (round.judge == NULL)
        cco_fatal("no memory for a race");
    cco_judge_begin(round.judge, &settings, cco_seconds());
    round.next = round.judge->next;
    if (tells)
        cco_race_tell_start(&settings, state, coll, bytes, period);
    start_round();
}

/* A call on another communicator with all processes: has some rank lost the anchor? */
static void ask_for_anchor(cco_comm *state, cco_coll coll, MPI_Count bytes)
{
    MPI_Request request;
    const int lost = anchor.state == NULL;
    int any = 0;
    if (!cco_candidate_is_due(state) && settings.every_call == 0)
        return;
    if (PMPI_Iallreduce(&lost, &any, 1, MPI_INT, MPI_MAX, state->comm, &request) != MPI_SUCCESS ||
        cco_wait(&request) != MPI_SUCCESS)
        cco_fatal("CRESTA_RACE: the MPI's allreduce failed");
    if (any && settings.every_call > 0)
        start(state, NULL, 1, coll, bytes);
    else if (any)
        stop("the program freed the communicator of its steps", state->comm);
}

/* Calls of several threads have no order that is the same on all ranks: there is no race then.  A
 * program that begins with that later is told, before ranks come to differ. */
static bool is_one_thread(void)
{
    static pthread_t first;
    static bool known;
    if (!known)
        first = pthread_self();
    known = true;
    const bool one = pthread_equal(first, pthread_self());
    if (!one && now == RACES)
        cco_fatal("CRESTA_RACE: the program calls collectives from several threads; implementations"
                  " can be compared in programs only that do so from one");
    return one;
}

static void learn(cco_comm *state, cco_coll coll, MPI_Count bytes, uint64_t word)
{
    cco_candidate *candidate = cco_candidates_add(state, word);
    int period = 0;
    if (candidate != NULL)
        period = settings.every_call > 0
                     ? 1
                     : cco_candidate_period(candidate, 1e-3 * settings.watch_ms);
    if (period > 0)
        start(state, candidate, period, coll, bytes);
}

void cco_race_call(cco_comm *state, const cco_call *call)
{
    if (!is_one_thread())
        cco_candidates_spoil();
    if (state->watched & CCO_WATCHED_ARM)
        cco_arms_catch_up(state);
    if (!(state->watched & CCO_WATCHED_CALLS))
        return;
    const MPI_Count bytes = cco_coll_infos[call->coll].properties & CCO_SIZED
                                ? cco_bytes(call, state->rank, state->size)
                                : 0;
    const uint64_t word = cco_mix((uint64_t)call->coll + 1, (uint64_t)cco_size_class(bytes));
    if (now == LEARNS)
        learn(state, call->coll, bytes, word);
    else if (now == RACES && state == anchor.state)
        follow(word);
    else if (now == RACES)
        ask_for_anchor(state, call->coll, bytes);
}

bool cco_race_is_on(void)
{
    return now == LEARNS || now == RACES;
}

bool cco_race_has_begun(void)
{
    return now != NONE;
}

void cco_race_prepare_begins(cco_comm *state)
{
    if (cco_race_is_on())
        cco_arms_prepare_begins(state);
}

void cco_race_count_begin(cco_comm *state)
{
    is_one_thread();
    if (state->watched & CCO_WATCHED_ARM)
        cco_arms_follow_begin(state);
    state->begins++;
}

void cco_race_end(void)
{
    if (tells && now == LEARNS)
        cco_race_tell_none(cco_candidates_why());
    if (tells && now == RACES)
        cco_race_tell_end("finalize");
    now = NONE;
    cco_race_output_close();
    cco_arms_end();
    cco_candidates_forget();
    free(round.judge);
    round.judge = NULL;
}
