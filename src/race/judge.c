/* SPDX-License-Identifier: BSD-3-Clause */
/* judge.c - see judge.h. */
#include "race/judge.h"

#include <math.h>
#include <string.h>

#include "race/sequence.h"

static const double ERROR = 0.05;       /* that a race names a winner which is none */
static const double ERROR_ONLINE = 0.2; /* of short blocks, where long ones decide by themselves */
static const double TRIM = 0.2;
static const double SCREENING = 0.6;    /* share of the time; the rest is to confirm */
static const double LONG_BLOCKS = 20;   /* times block_ms at least; */
static const double LONG_ONLINE = 80;   /* while the program is to run well meanwhile */
static const double GUARD_ERROR = 1e-3; /* of a look; there are many */

enum {
    FEWEST_ROUNDS = 8,    /* that confirm, */
    MOST_SCREENED = 1024, /* and at most where the time is not limited, */
    MOST_CONFIRMED = 128, /* in either; */
    MOST_ONLINE = 1024,   /* screened while the program is to run well meanwhile, */
    ENOUGH_ONLINE = 64,   /* if some parts are clearly better; */
    TRIMMED = 8,          /* that confirm, where one bad block does not count; */
    LONGER = 10,          /* times are blocks that confirm, */
    LONGER_ONLINE = 4,    /* or so many, at first, while the program is to run well meanwhile */
    WARM_STEPS = 3,       /* first ones, of which the first is not counted */
    GUARD_ROUNDS = 16,    /* that are judged together */
    LOOKS = 12,           /* at most in the time of a race: the error is shared out to them; */
    LOOKS_ONLINE = 16,    /* there are more of them there */
    CONFIRM_LOOKS = 6,    /* in the last stage, where it may end early */
    MOST_STEPS = 1000000
};

cco_race_next cco_race_first(uint32_t alive)
{
    return (cco_race_next){.stage = CCO_RACE_WARM, .alive = alive, .steps = WARM_STEPS};
}

static void forget_rounds(cco_judge *j)
{
    cco_differences_forget(&j->differences);
    memset(j->interval, 0, sizeof j->interval);
    memset(j->mean, 0, sizeof j->mean);
}

void cco_judge_go_on(cco_judge *j, cco_race_aim aim, int reference, uint32_t alive, double now)
{
    j->aim = aim;
    j->reference = j->favorite = reference;
    j->contenders = __builtin_popcount(alive) - 1;
    j->began = now;
    j->next = cco_race_first(alive);
    forget_rounds(j);
}

void cco_judge_begin(cco_judge *j, const cco_race_settings *settings, double now)
{
    memset(j, 0, sizeof *j);
    j->settings = settings;
    j->born = now;
    cco_judge_go_on(j, CCO_FIND_BEST, 0, (uint32_t)((1ull << settings->arms) - 1), now);
}

int cco_race_order(uint64_t seed, const cco_race_next *next, int8_t order[CCO_BLOCKS])
{
    int n = 0;
    uint64_t chance = cco_mix(cco_mix(seed, (uint64_t)next->stage), next->round + 1);
    for (int arm = 0; arm < CCO_ARMS; arm++)
        if (next->alive >> arm & 1)
            order[n++] = (int8_t)arm;
    if (next->stage == CCO_RACE_WARM || next->stage == CCO_RACE_REST)
        return n;
    for (int i = n - 1; i > 0; i--) {
        chance = cco_mix(chance, (uint64_t)i);
        const int other = (int)((chance >> 16) % (unsigned)(i + 1));
        const int8_t kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
    for (int i = 0; i < n; i++)
        order[2 * n - 1 - i] = order[i];
    return 2 * n;
}

/* The arms that run against the reference. */
static uint32_t judge_others(const cco_judge *j)
{
    return j->next.alive & ~(1u << j->reference);
}

/* Intervals of all arms that are left. */
static void judge_look(cco_judge *j, double error)
{
    const cco_differences *d = &j->differences;
    for (int arm = 0; arm < CCO_ARMS; arm++) {
        if (!(judge_others(j) >> arm & 1))
            continue;
        j->interval[arm] = cco_differences_between(d, arm, j->reference, TRIM, error);
        j->mean[arm] = cco_differences_between(d, arm, j->reference, 0, error);
    }
}

/* The arm with the shortest step so far, the reference if it is that. */
static int judge_leader(const cco_judge *j)
{
    int best = j->reference;
    for (int arm = 0; arm < CCO_ARMS; arm++)
        if (judge_others(j) >> arm & 1 && j->interval[arm].center < j->interval[best].center)
            best = arm;
    return best;
}

/* Arms that are clearly slower than the best one leave; the reference stays.  What the noise of the
 * reference adds to both is not in their difference.  Parts are compared with the reference alone.
 */
static void judge_drop(cco_judge *j, double error)
{
    const int best = j->aim == CCO_FIND_PARTS ? j->reference : judge_leader(j);
    for (int arm = 0; arm < CCO_ARMS; arm++)
        if (judge_others(j) >> arm & 1 &&
            cco_differences_between(&j->differences, arm, best, TRIM, error).low > 0)
            j->dropped |= 1u << arm;
    j->next.alive &= ~j->dropped;
}

static bool is_online(const cco_judge *j)
{
    return j->settings->regret > 0;
}

static bool is_power_of_two(uint32_t n)
{
    return (n & (n - 1)) == 0;
}

/* After 4, 8, 16, ... rounds. */
static bool is_time_to_look(const cco_judge *j)
{
    return j->next.round >= 4 && is_power_of_two(j->next.round);
}

/* Where few steps are to decide also after 12, 24, 48, ... */
static bool is_time_to_screen(const cco_judge *j)
{
    const uint32_t n = j->next.round;
    return is_time_to_look(j) || (is_online(j) && n % 12 == 0 && is_power_of_two(n / 3));
}

/* Beyond the interval, and also if the worst blocks count: those are not chance where an
 * implementation waits badly on a machine that others use too. */
static bool clearly_faster(const cco_judge *j, int arm)
{
    return arm != j->reference && j->interval[arm].high < 0 && j->mean[arm].center < 0;
}

static void end_with(cco_judge *j, int arm)
{
    j->next.stage = CCO_RACE_OVER;
    j->next.arm = arm;
}

static int32_t as_steps(double steps)
{
    return steps < MOST_STEPS ? (int32_t)steps : MOST_STEPS;
}

/* Steps of a block of at least so many seconds. */
static int32_t steps_in(double seconds, double step_s)
{
    return step_s > 0 ? as_steps(seconds / step_s + 1) : 1;
}

/* The steps of a block that shows what an implementation does in the long run. */
static int32_t long_steps(const cco_judge *j, double step_s)
{
    const double blocks = is_online(j) ? LONG_ONLINE : LONG_BLOCKS;
    return steps_in(blocks * 1e-3 * j->settings->block_ms, step_s);
}

/* What is clear must not take many steps of a program that is to run well meanwhile: there blocks
 * begin short, and become long while it is not. */
static int32_t steps_to_confirm(const cco_judge *j, double step_s)
{
    const bool begins_short = is_online(j) && j->aim != CCO_GUARD;
    const int times = begins_short ? LONGER_ONLINE : LONGER;
    const int32_t longer = as_steps((double)times * j->next.steps);
    const int32_t least = long_steps(j, step_s);
    return longer > least || begins_short ? longer : least;
}

static void judge_lengthen(cco_judge *j, double step_s)
{
    if (j->next.steps < long_steps(j, step_s))
        j->next.steps = as_steps(2.0 * j->next.steps);
}

/* `best` and the other `arms` against the reference. */
static void judge_confirm(cco_judge *j, uint32_t arms, int best, double step_s)
{
    j->next = (cco_race_next){.stage = CCO_RACE_CONFIRM,
                              .alive = 1u << j->reference | arms,
                              .steps = steps_to_confirm(j, step_s),
                              .parts = j->next.parts};
    j->contenders = __builtin_popcount(arms);
    j->favorite = best;
    forget_rounds(j);
}

/* The error of a look at many arms, one of several looks. */
static double shared_error(const cco_judge *j)
{
    const double error = is_online(j) ? ERROR_ONLINE / LOOKS_ONLINE : ERROR / LOOKS;
    return error / j->contenders;
}

/* Those that are clearly faster are to be confirmed: what they have in common, or the best, online
 * with all that may be as good, for they should have had as many blocks when one is settled on. */
static void confirm_best(cco_judge *j, int best, double step_s)
{
    uint32_t parts = 0;
    for (int arm = 0; arm < CCO_ARMS; arm++)
        if (judge_others(j) >> arm & 1 && clearly_faster(j, arm))
            parts |= 1u << arm;
    if (j->aim == CCO_FIND_PARTS && !is_power_of_two(parts) && j->settings->arms < CCO_ARMS) {
        j->next.parts = parts;
        best = j->settings->arms;
    }
    const bool all = is_online(j) && j->aim == CCO_FIND_BEST;
    judge_confirm(j, all ? judge_others(j) : 1u << best, best, step_s);
}

/* All that are left are decided about.  Online one that is faster is enough: it can be used while
 * the others are compared with it. */
static bool all_are_clear(const cco_judge *j)
{
    const uint32_t left = judge_others(j);
    if (j->aim != CCO_FIND_PARTS)
        return (is_online(j) || is_power_of_two(left)) && clearly_faster(j, judge_leader(j));
    for (int arm = 0; arm < CCO_ARMS; arm++)
        if (left >> arm & 1 && !clearly_faster(j, arm))
            return false;
    return true;
}

/* No more rounds of short blocks. */
static bool screening_is_spent(const cco_judge *j, double now)
{
    const cco_race_settings *s = j->settings;
    if (s->seconds > 0)
        return now - j->began > (s->confirm > 0 ? SCREENING : 1) * s->seconds;
    if (is_online(j) && j->favorite != j->reference)
        return j->next.round >= ENOUGH_ONLINE; /* the others are as good as the reference */
    return j->next.round >= (is_online(j) ? MOST_ONLINE : MOST_SCREENED);
}

static void judge_screened(cco_judge *j, double step_s, double now)
{
    const cco_race_settings *s = j->settings;
    const bool spent = screening_is_spent(j, now);
    const bool looks = spent || is_time_to_screen(j);
    if (looks) {
        judge_look(j, shared_error(j));
        if (s->drop > 0)
            judge_drop(j, shared_error(j));
    }
    const int best = judge_leader(j);
    j->favorite = clearly_faster(j, best) ? best : j->reference;
    if (!spent && judge_others(j) != 0 && !(s->drop > 0 && looks && all_are_clear(j)))
        return;
    if (j->favorite == j->reference)
        end_with(j, j->reference);
    else if (s->confirm > 0)
        confirm_best(j, best, step_s);
    else
        end_with(j, best);
}

static int judge_challenger(const cco_judge *j)
{
    return __builtin_ctz(judge_others(j));
}

/* One has won.  What has not been told apart from it may be compared with it in another race. */
static void end_with_winner(cco_judge *j, int arm)
{
    j->next.left = judge_others(j) & ~(1u << arm);
    end_with(j, arm);
}

/* Long blocks of a program that is to run well meanwhile: a look now and then. */
static void confirmed_early(cco_judge *j, double step_s)
{
    const double error = ERROR / CONFIRM_LOOKS / j->contenders;
    judge_look(j, error);
    judge_drop(j, error);
    const int best = judge_leader(j);
    const bool rivals = !is_power_of_two(judge_others(j));
    const bool trimmed = j->next.round >= TRIMMED;
    if (trimmed)
        j->favorite = best;
    if (judge_others(j) == 0)
        end_with(j, j->reference);
    else if (clearly_faster(j, best) && (trimmed || !rivals))
        end_with_winner(j, best);
    else if (trimmed)
        judge_lengthen(j, step_s);
}

static void judge_confirmed(cco_judge *j, double step_s, double now)
{
    const cco_race_settings *s = j->settings;
    const bool spent = s->seconds > 0 ? now - j->began > s->seconds
                                      : j->next.round >= MOST_CONFIRMED;
    if (is_online(j)) {
        if (is_time_to_look(j))
            confirmed_early(j, step_s);
        if (spent && j->next.stage != CCO_RACE_OVER)
            end_with(j, j->reference);
    } else if (spent && j->next.round >= FEWEST_ROUNDS) {
        judge_look(j, ERROR);
        end_with(j, clearly_faster(j, judge_challenger(j)) ? judge_challenger(j) : j->reference);
    }
}

/* Rounds are judged by the dozen, so that what was a while ago does not count; early ones too, for
 * a choice that has become very bad. */
static void judge_guarded(cco_judge *j)
{
    if (!is_time_to_look(j))
        return;
    judge_look(j, GUARD_ERROR);
    const int arm = judge_challenger(j);
    if (clearly_faster(j, arm)) {
        end_with(j, arm);
    } else if (j->next.round >= GUARD_ROUNDS) {
        j->next.round = 0;
        forget_rounds(j);
    }
}

static void judge_screen(cco_judge *j, double step_s)
{
    j->regret.step_s = step_s;
    j->next.stage = CCO_RACE_SCREEN;
    j->next.steps = steps_in(1e-3 * j->settings->block_ms, step_s);
    j->next.round = 0;
    if (j->aim == CCO_GUARD)
        judge_confirm(j, judge_others(j), j->reference, step_s);
}

static void judge_rest(cco_judge *j, double seconds, double step_s)
{
    j->after = j->next;
    j->next = (cco_race_next){
        .stage = CCO_RACE_REST, .alive = 1u << j->favorite, .steps = steps_in(seconds, step_s)};
}

/* So that trying costs no more than its share of the time. */
static void rest_if_due(cco_judge *j, double step_s, double now)
{
    const cco_race_settings *s = j->settings;
    if (j->next.stage == CCO_RACE_OVER || !is_online(j))
        return;
    const double due_s = j->aim == CCO_GUARD
                             ? 2 * j->next.steps * step_s / s->guard
                             : cco_regret_rest(&j->regret, s->regret, now - j->born);
    if (due_s > 0)
        judge_rest(j, due_s, step_s);
}

void cco_judge_round(cco_judge *j, int blocks, const int8_t *order, const double *step_s,
                     double now)
{
    const double step = cco_step_of(j->reference, blocks, order, step_s);
    const cco_race_stage stage = (cco_race_stage)j->next.stage;
    j->dropped = 0;
    if (stage == CCO_RACE_REST) {
        j->next = j->after;
        return;
    }
    cco_regret_add_round(&j->regret, j->favorite, stage != CCO_RACE_WARM, j->next.steps, blocks,
                         order, step_s);
    if (stage == CCO_RACE_WARM) {
        judge_screen(j, is_online(j) ? cco_least_step(blocks, step_s) : step);
    } else {
        cco_differences_add(&j->differences, j->reference, blocks, order, step_s);
        j->next.round++;
        if (stage == CCO_RACE_SCREEN)
            judge_screened(j, step, now);
        else if (j->aim == CCO_GUARD)
            judge_guarded(j);
        else
            judge_confirmed(j, step, now);
    }
    rest_if_due(j, step, now);
}
