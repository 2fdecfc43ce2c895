/* SPDX-License-Identifier: BSD-3-Clause */
/* rounds.c - see rounds.h. */
#include "race/rounds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "mpi/service.h"
#include "race/arms.h"
#include "race/complete.h"
#include "race/output.h"

static struct {
    cco_race_settings *settings;
    cco_comm *anchor;
    cco_judge *judge; /* of rank 0; elsewhere it is not used */
    cco_race_next next;
    int home;
    bool tells; /* this rank is the first on the anchor, and writes the output */
    bool over;
    cco_interval gained; /* by CRESTA_ONLINE, in logarithms; known to rank 0 */
} rounds;

/* Bit per collective that concerns the arms and that the program calls. */
static struct {
    uint32_t ever, since; /* on this rank; since its steps are known */
    uint32_t on_any;      /* ever, on some rank */
} used;

/* The round that is on. */
static struct {
    int8_t order[CCO_BLOCKS];
    int blocks, block;          /* how many, and which is on */
    int steps;                  /* of it so far */
    double since;               /* when it began */
    double seconds[CCO_BLOCKS]; /* of each block, on this rank */
    bool begins;                /* some rank has a communicator with begins */
    double first_s[CCO_BLOCKS]; /* of the first step of an arm, which is not in `seconds` */
} present;

int cco_rounds_home(void)
{
    return rounds.home;
}

void cco_rounds_uses(cco_coll coll)
{
    used.ever |= 1u << coll;
    used.since |= 1u << coll;
}

static void rounds_reduce(const void *mine, void *all, int n, MPI_Datatype type, MPI_Op op)
{
    cco_race_complete(rounds.anchor,
                      cco_service_allreduce(mine, all, n, type, op, rounds.anchor->comm));
}

static void rounds_meet(void)
{
    cco_race_complete(rounds.anchor, cco_service_barrier(rounds.anchor->comm));
}

/* If this is the last that is written, the program broke under this arm: no rank is in the block
 * before any more, and none sets up anything for this one yet. */
static void rounds_tell_first(int arm)
{
    rounds_meet();
    if (rounds.tells)
        cco_race_tell_first(arm);
    rounds_meet();
}

/* The first block of a round begins, or the next. */
static void start_block(void)
{
    if (rounds.next.stage == CCO_RACE_WARM)
        rounds_tell_first(present.order[present.block]);
    cco_arms_switch(present.order[present.block],
                    present.begins ? rounds.anchor->comm : MPI_COMM_NULL);
    if (rounds.anchor->watched & CCO_WATCHED_ARM)
        cco_arms_catch_up(rounds.anchor);
    present.steps = 0;
    present.since = cco_seconds();
}

static void start_round(void)
{
    const int mine = cco_arms_have_begins();
    int any = 0;
    rounds_reduce(&mine, &any, 1, MPI_INT, MPI_MAX);
    present.begins = any;
    present.blocks = cco_race_order((uint64_t)rounds.settings->seed, &rounds.next, present.order);
    present.block = 0;
    start_block();
}

void cco_rounds_again(void)
{
    start_round();
}

void cco_rounds_pause(void)
{
    cco_arms_switch(rounds.home, rounds.anchor->comm);
}

static void start_heat(const cco_heat *heat)
{
    rounds.next = cco_race_first(heat->alive);
    if (rounds.tells)
        cco_judge_go_on(rounds.judge, heat->aim, heat->reference, heat->alive, cco_seconds());
}

void cco_rounds_begin(cco_race_settings *s, cco_comm *state, const cco_heat *heat)
{
    const bool first = rounds.judge == NULL;
    rounds.settings = s;
    rounds.anchor = state;
    used.since = 0;
    rounds.tells = state->rank == 0; /* rank 0 of the world need not be first there */
    rounds.judge = first ? calloc(1, sizeof *rounds.judge) : rounds.judge;
    if (rounds.judge == NULL)
        cco_fatal("no memory for a race");
    if (first || heat == NULL)
        cco_judge_begin(rounds.judge, rounds.settings, cco_seconds());
    rounds.next = cco_race_first((uint32_t)((1ull << rounds.settings->arms) - 1));
    if (heat != NULL)
        start_heat(heat);
    start_round();
}

/* Rank 0 says how it goes on. */
static void rounds_decide(const double *step_s)
{
    if (rounds.tells) {
        cco_judge_round(rounds.judge, present.blocks, present.order, step_s, cco_seconds());
        cco_race_tell_next(rounds.judge, &rounds.next);
        rounds.next = rounds.judge->next;
    }
    cco_race_complete(rounds.anchor,
                      cco_service_bcast(&rounds.next, sizeof rounds.next, rounds.anchor->comm));
    if (rounds.next.parts != 0 && rounds.next.alive >> rounds.settings->arms & 1) {
        cco_online_combine(rounds.settings, rounds.next.parts);
        if (rounds.tells)
            cco_race_tell_arms(rounds.settings, rounds.settings->arms - 1);
    }
}

/* The mean over the ranks of the seconds of a step in each block, of which `steps` are counted. */
static void rounds_average(double *seconds, int steps, double *mean)
{
    rounds_reduce(seconds, mean, present.blocks, MPI_DOUBLE, MPI_SUM);
    for (int i = 0; i < present.blocks; i++)
        mean[i] /= rounds.anchor->size * steps;
}

/* The first step of each arm, with what it sets up. */
static void tell_warm(void)
{
    double first_s[CCO_BLOCKS], least = INFINITY;
    rounds_average(present.first_s, 1, first_s);
    for (int i = 0; i < present.blocks; i++)
        least = fmin(least, first_s[i]);
    for (int i = 0; rounds.tells && i < present.blocks; i++) {
        cco_race_tell_warm(present.order[i], first_s[i]);
        if (present.order[i] != rounds.judge->reference) /* that would have run anyway */
            cco_regret_add(&rounds.judge->regret, first_s[i] - least);
    }
}

static void take_winner(void)
{
    if (rounds.tells && rounds.next.arm != rounds.judge->reference) {
        const cco_interval *more = &rounds.judge->interval[rounds.next.arm];
        rounds.gained.center += more->center;
        rounds.gained.low += more->low;
        rounds.gained.high += more->high;
    }
    rounds.home = rounds.next.arm;
}

/* A race has its winner.  True if no other follows. */
static bool end_heat(void)
{
    cco_heat heat;
    const uint32_t mine[] = {used.ever, used.since};
    uint32_t of_all[2] = {0};
    rounds.over = true;
    if (!cco_online_is_on())
        return true;
    take_winner();
    rounds_reduce(mine, of_all, 2, MPI_UINT32_T, MPI_BOR);
    used.on_any = of_all[0];
    const int arms = rounds.settings->arms;
    rounds.home = cco_online_trim(rounds.settings, rounds.home, used.on_any);
    const bool follows = cco_online_next(rounds.settings, rounds.home, rounds.next.left, of_all[1],
                                         &heat);
    if (rounds.tells)
        cco_race_tell_arms(rounds.settings, arms);
    if (!follows)
        return true;
    start_heat(&heat);
    rounds.over = heat.aim == CCO_GUARD;
    return false;
}

static bool rounds_end_round(void)
{
    double step_s[CCO_BLOCKS];
    const bool warm = rounds.next.stage == CCO_RACE_WARM;
    rounds_average(present.seconds, rounds.next.steps - warm, step_s);
    if (warm)
        tell_warm();
    else if (rounds.tells)
        cco_race_tell_round(&rounds.next, present.blocks, present.order, step_s);
    rounds_decide(step_s);
    if (rounds.next.stage == CCO_RACE_OVER && end_heat())
        return true;
    start_round();
    return false;
}

/* In most steps nothing else happens. */
bool cco_rounds_step(void)
{
    present.steps++;
    if (rounds.next.stage == CCO_RACE_WARM && present.steps == 1) {
        const double seconds = cco_seconds();
        present.first_s[present.block] = seconds - present.since;
        present.since = seconds;
    }
    if (present.steps < rounds.next.steps)
        return false;
    present.seconds[present.block] = cco_seconds() - present.since;
    if (++present.block == present.blocks)
        return rounds_end_round();
    start_block();
    return false;
}

/* How much less time a step takes, in percent. */
static double rounds_percent(double logarithm)
{
    return -100 * expm1(logarithm);
}

static const char *without_gain(const char *variable)
{
    if (strcmp(variable, "CRESTA_GUARD") == 0)
        return "what is chosen stays: the MPI's own is not clearly faster";
    if (!rounds.over && rounds.judge->favorite != 0)
        return "the program ended before it was certain what is fastest; the best so far";
    return rounds.over ? "nothing that was tried is clearly faster than what is chosen anyway"
                       : "the program ended before it was clear what is fastest";
}

static void report_choice(const char *rules)
{
    const char *variable = cco_online_variable(rounds.home);
    if (rounds.home == 0)
        cco_log(CCO_LOG_WARN, "%s: %s%s%s", variable, without_gain(variable),
                rules[0] != '\0' ? ": " : "", rules);
    else
        cco_log(CCO_LOG_WARN,
                "%s: a time step takes %.1f %% less time (95 %% interval %.1f to %.1f %%) with %s",
                variable, rounds_percent(rounds.gained.center), rounds_percent(rounds.gained.high),
                rounds_percent(rounds.gained.low), rules);
}

void cco_rounds_report(const char *why)
{
    const char *variable = cco_online_variable(rounds.home);
    char rules[1024];
    if (!cco_online_is_on())
        return;
    if (rounds.judge == NULL) {
        cco_log(CCO_LOG_WARN, "%s: nothing was tried: %s", variable, why);
    } else if (rounds.tells) {
        const double spent = cco_seconds() - rounds.judge->born;
        cco_online_rules(rounds.home != 0 ? rounds.home : rounds.judge->favorite,
                         used.ever | used.on_any, rules, sizeof rules);
        report_choice(rules);
        cco_log(CCO_LOG_WARN, "%s: the trials took %.3f s, %.1f %% of the time since then",
                variable, fmax(rounds.judge->regret.told_s, 0),
                100 * fmax(rounds.judge->regret.told_s, 0) / spent);
        cco_race_tell_online(rounds.home, rules, rounds.home != 0 || rounds.over, &rounds.gained,
                             rounds.judge->regret.told_s, spent);
    }
}

void cco_rounds_end(void)
{
    free(rounds.judge);
    rounds.judge = NULL;
    rounds.anchor = NULL;
}
