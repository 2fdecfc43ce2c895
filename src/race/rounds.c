/* SPDX-License-Identifier: BSD-3-Clause */
/* rounds.c - see rounds.h. */
#include "race/rounds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/log.h"
#include "mpi/service.h"
#include "race/arms.h"
#include "race/complete.h"
#include "race/output.h"

static cco_race_settings *settings;
static cco_comm *anchor;
static cco_judge *judge; /* of rank 0; elsewhere it is not used */
static cco_race_next next;
static int home;
static bool tells; /* this rank is the first on the anchor, and writes the output */
static bool over;

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

/* What CRESTA_ONLINE has found, in logarithms; known to rank 0. */
static cco_interval gained;

int cco_rounds_home(void)
{
    return home;
}

void cco_rounds_uses(cco_coll coll)
{
    used.ever |= 1u << coll;
    used.since |= 1u << coll;
}

static void rounds_reduce(const void *mine, void *all, int n, MPI_Datatype type, MPI_Op op)
{
    cco_race_complete(anchor, cco_service_allreduce(mine, all, n, type, op, anchor->comm));
}

static void rounds_meet(void)
{
    cco_race_complete(anchor, cco_service_barrier(anchor->comm));
}

/* If this is the last that is written, the program broke under this arm: no rank is in the block
 * before any more, and none sets up anything for this one yet. */
static void rounds_tell_first(int arm)
{
    rounds_meet();
    if (tells)
        cco_race_tell_first(arm);
    rounds_meet();
}

/* The first block of a round begins, or the next. */
static void start_block(void)
{
    if (next.stage == CCO_RACE_WARM)
        rounds_tell_first(present.order[present.block]);
    cco_arms_switch(present.order[present.block], present.begins ? anchor->comm : MPI_COMM_NULL);
    if (anchor->watched & CCO_WATCHED_ARM)
        cco_arms_catch_up(anchor);
    present.steps = 0;
    present.since = cco_seconds();
}

static void start_round(void)
{
    const int mine = cco_arms_have_begins();
    int any = 0;
    rounds_reduce(&mine, &any, 1, MPI_INT, MPI_MAX);
    present.begins = any;
    present.blocks = cco_race_order((uint64_t)settings->seed, &next, present.order);
    present.block = 0;
    start_block();
}

void cco_rounds_again(void)
{
    start_round();
}

void cco_rounds_pause(void)
{
    cco_arms_switch(home, anchor->comm);
}

static void start_heat(const cco_heat *heat)
{
    next = cco_race_first(heat->alive);
    if (tells)
        cco_judge_go_on(judge, heat->aim, heat->reference, heat->alive, cco_seconds());
}

void cco_rounds_begin(cco_race_settings *s, cco_comm *state, const cco_heat *heat)
{
    const bool first = judge == NULL;
    settings = s;
    anchor = state;
    used.since = 0;
    tells = state->rank == 0; /* rank 0 of the world need not be first there */
    judge = first ? calloc(1, sizeof *judge) : judge;
    if (judge == NULL)
        cco_fatal("no memory for a race");
    if (first || heat == NULL)
        cco_judge_begin(judge, settings, cco_seconds());
    next = cco_race_first((uint32_t)((1ull << settings->arms) - 1));
    if (heat != NULL)
        start_heat(heat);
    start_round();
}

/* Rank 0 says how it goes on. */
static void rounds_decide(const double *step_s)
{
    if (tells) {
        cco_judge_round(judge, present.blocks, present.order, step_s, cco_seconds());
        cco_race_tell_next(judge, &next);
        next = judge->next;
    }
    cco_race_complete(anchor, cco_service_bcast(&next, sizeof next, anchor->comm));
    if (next.parts != 0 && next.alive >> settings->arms & 1) {
        cco_online_combine(settings, next.parts);
        if (tells)
            cco_race_tell_arms(settings, settings->arms - 1);
    }
}

/* The mean over the ranks of the seconds of a step in each block, of which `steps` are counted. */
static void rounds_average(double *seconds, int steps, double *mean)
{
    rounds_reduce(seconds, mean, present.blocks, MPI_DOUBLE, MPI_SUM);
    for (int i = 0; i < present.blocks; i++)
        mean[i] /= anchor->size * steps;
}

/* The first step of each arm, with what it sets up. */
static void tell_warm(void)
{
    double first_s[CCO_BLOCKS], least = INFINITY;
    rounds_average(present.first_s, 1, first_s);
    for (int i = 0; i < present.blocks; i++)
        least = fmin(least, first_s[i]);
    for (int i = 0; tells && i < present.blocks; i++) {
        cco_race_tell_warm(present.order[i], first_s[i]);
        if (present.order[i] != judge->reference) /* that would have run anyway */
            cco_regret_add(&judge->regret, first_s[i] - least);
    }
}

static void take_winner(void)
{
    if (tells && next.arm != judge->reference) {
        const cco_interval *more = &judge->interval[next.arm];
        gained.center += more->center;
        gained.low += more->low;
        gained.high += more->high;
    }
    home = next.arm;
}

/* A race has its winner.  True if no other follows. */
static bool end_heat(void)
{
    cco_heat heat;
    const uint32_t mine[] = {used.ever, used.since};
    uint32_t of_all[2] = {0};
    over = true;
    if (!cco_online_is_on())
        return true;
    take_winner();
    rounds_reduce(mine, of_all, 2, MPI_UINT32_T, MPI_BOR);
    used.on_any = of_all[0];
    const int arms = settings->arms;
    home = cco_online_trim(settings, home, used.on_any);
    const bool follows = cco_online_next(settings, home, next.left, of_all[1], &heat);
    if (tells)
        cco_race_tell_arms(settings, arms);
    if (!follows)
        return true;
    start_heat(&heat);
    over = heat.aim == CCO_GUARD;
    return false;
}

static bool rounds_end_round(void)
{
    double step_s[CCO_BLOCKS];
    const bool warm = next.stage == CCO_RACE_WARM;
    rounds_average(present.seconds, next.steps - warm, step_s);
    if (warm)
        tell_warm();
    else if (tells)
        cco_race_tell_round(&next, present.blocks, present.order, step_s);
    rounds_decide(step_s);
    if (next.stage == CCO_RACE_OVER && end_heat())
        return true;
    start_round();
    return false;
}

/* In most steps nothing else happens. */
bool cco_rounds_step(void)
{
    present.steps++;
    if (next.stage == CCO_RACE_WARM && present.steps == 1) {
        const double seconds = cco_seconds();
        present.first_s[present.block] = seconds - present.since;
        present.since = seconds;
    }
    if (present.steps < next.steps)
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
    if (!over && judge->favorite != 0)
        return "the program ended before it was certain what is fastest; the best so far";
    return over ? "nothing that was tried is clearly faster than what is chosen anyway"
                : "the program ended before it was clear what is fastest";
}

static void report_choice(const char *rules)
{
    const char *variable = cco_online_variable(home);
    if (home == 0)
        cco_log(CCO_LOG_WARN, "%s: %s%s%s", variable, without_gain(variable),
                rules[0] != '\0' ? ": " : "", rules);
    else
        cco_log(CCO_LOG_WARN,
                "%s: a time step takes %.1f %% less time (95 %% interval %.1f to %.1f %%) with %s",
                variable, rounds_percent(gained.center), rounds_percent(gained.high),
                rounds_percent(gained.low), rules);
}

void cco_rounds_report(const char *why)
{
    const char *variable = cco_online_variable(home);
    char rules[1024];
    if (!cco_online_is_on())
        return;
    if (judge == NULL) {
        cco_log(CCO_LOG_WARN, "%s: nothing was tried: %s", variable, why);
    } else if (tells) {
        const double spent = cco_seconds() - judge->born;
        cco_online_rules(home != 0 ? home : judge->favorite, used.ever | used.on_any, rules,
                         sizeof rules);
        report_choice(rules);
        cco_log(CCO_LOG_WARN, "%s: the trials took %.3f s, %.1f %% of the time since then",
                variable, fmax(judge->regret.told_s, 0),
                100 * fmax(judge->regret.told_s, 0) / spent);
        cco_race_tell_online(home, rules, home != 0 || over, &gained, judge->regret.told_s, spent);
    }
}

void cco_rounds_end(void)
{
    free(judge);
    judge = NULL;
    anchor = NULL;
}
