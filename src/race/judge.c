/* SPDX-License-Identifier: BSD-3-Clause */
/* judge.c - see judge.h. */
#include "race/judge.h"

#include <math.h>
#include <string.h>

#include "race/sequence.h"

static const double ERROR = 0.05; /* that a race names a winner which is none */
static const double TRIM = 0.2;
static const double SCREENING = 0.6; /* share of the time; the rest is to confirm */
static const double LONG_BLOCK_S = 20e-3;

enum {
    FEWEST_ROUNDS = 8,    /* in each stage, */
    MOST_SCREENED = 1024, /* and at most where the time is not limited, */
    MOST_CONFIRMED = 128, /* in either */
    LONGER = 10,          /* times are blocks that confirm, */
    WARM_STEPS = 3,       /* first ones, of which the first is not counted */
    LOOKS = 12,           /* at most in the time of a race: the error is shared out to them */
    MOST_STEPS = 1000000
};

void cco_judge_begin(cco_judge *j, const cco_race_settings *settings, double now)
{
    memset(j, 0, sizeof *j);
    j->settings = settings;
    j->began = now;
    j->merged = 1;
    j->next = (cco_race_next){.stage = CCO_RACE_WARM,
                              .alive = (uint32_t)((1ull << settings->arms) - 1),
                              .steps = WARM_STEPS};
}

int cco_race_order(uint64_t seed, const cco_race_next *next, int8_t order[CCO_BLOCKS])
{
    int n = 0;
    uint64_t chance = cco_mix(cco_mix(seed, (uint64_t)next->stage), next->round + 1);
    for (int arm = 0; arm < CCO_ARMS; arm++)
        if (next->alive >> arm & 1)
            order[n++] = (int8_t)arm;
    if (next->stage == CCO_RACE_WARM)
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

/* Where there is no more room, pairs of rounds become one. */
static void merge(cco_judge *j)
{
    for (int arm = 0; arm < CCO_ARMS; arm++)
        for (int i = 0; i < CCO_DIFFERENCES / 2; i++)
            j->difference[arm][i] = (j->difference[arm][2 * i] + j->difference[arm][2 * i + 1]) / 2;
    j->rounds = CCO_DIFFERENCES / 2;
    j->merged *= 2;
}

static void add_round(cco_judge *j, int blocks, const int8_t *order, const double *step_s)
{
    double of[CCO_ARMS] = {0};
    for (int i = 0; i < blocks; i++)
        of[order[i]] += step_s[i];
    if (j->pending == 0 && j->rounds == CCO_DIFFERENCES)
        merge(j);
    for (int arm = 0; arm < CCO_ARMS && of[0] > 0; arm++) {
        if (of[arm] <= 0)
            continue;
        double *last = &j->difference[arm][j->rounds];
        const double sum = j->pending > 0 ? *last * j->pending : 0;
        *last = (sum + log(of[arm] / of[0])) / (j->pending + 1);
    }
    j->pending = (j->pending + 1) % j->merged;
    j->rounds += j->pending == 0;
}

/* Intervals of all arms that are left. */
static void look(cco_judge *j, double error)
{
    double copy[CCO_DIFFERENCES];
    for (int arm = 1; arm < j->settings->arms; arm++) {
        if (!(j->next.alive >> arm & 1))
            continue;
        memcpy(copy, j->difference[arm], (size_t)j->rounds * sizeof *copy);
        j->interval[arm] = cco_interval_of(copy, j->rounds, TRIM, error);
        j->mean[arm] = cco_interval_of(copy, j->rounds, 0, error);
    }
}

/* The arm with the shortest step so far, the reference if it is that. */
static int leader(const cco_judge *j)
{
    int best = 0;
    for (int arm = 1; arm < j->settings->arms; arm++)
        if (j->next.alive >> arm & 1 && j->interval[arm].centre < j->interval[best].centre)
            best = arm;
    return best;
}

/* Arms that are slower than another, beyond both intervals, leave; the reference stays. */
static void drop(cco_judge *j)
{
    double least = 0;
    for (int arm = 1; arm < j->settings->arms; arm++)
        if (j->next.alive >> arm & 1 && j->interval[arm].high < least)
            least = j->interval[arm].high;
    for (int arm = 1; arm < j->settings->arms; arm++)
        if (j->next.alive >> arm & 1 && j->interval[arm].low > least)
            j->dropped |= 1u << arm;
    j->next.alive &= ~j->dropped;
}

static bool is_time_to_look(const cco_judge *j)
{
    const uint32_t n = j->next.round;
    return n >= 4 && (n & (n - 1)) == 0;
}

/* Beyond the interval, and also if the worst blocks count: those are not chance where an
 * implementation waits badly on a machine that others use too. */
static bool clearly_faster(const cco_judge *j, int arm)
{
    return arm != 0 && j->interval[arm].high < 0 && j->mean[arm].centre < 0;
}

static void end_with(cco_judge *j, int arm)
{
    j->next.stage = CCO_RACE_OVER;
    j->next.arm = arm;
}

static void confirm(cco_judge *j, int arm, double step_s, double now)
{
    const double steps = LONG_BLOCK_S / (step_s > 0 ? step_s : LONG_BLOCK_S) + 1;
    int32_t longer = j->next.steps < MOST_STEPS / LONGER ? j->next.steps * LONGER : MOST_STEPS;
    if (longer < steps)
        longer = steps < MOST_STEPS ? (int32_t)steps : MOST_STEPS;
    j->next = (cco_race_next){.stage = CCO_RACE_CONFIRM, .alive = 1u | 1u << arm, .steps = longer};
    j->confirming = now;
    j->rounds = j->pending = 0;
    j->merged = 1;
}

/* The error of a look at many arms, one of several looks. */
static double shared_error(const cco_judge *j)
{
    return ERROR / LOOKS / (j->settings->arms - 1);
}

static void screened(cco_judge *j, double step_s, double now)
{
    const cco_race_settings *s = j->settings;
    const double share = s->confirm > 0 ? SCREENING : 1;
    const bool spent = s->seconds > 0 ? now - j->began > share * s->seconds
                                      : j->next.round >= MOST_SCREENED;
    const bool looks = spent || is_time_to_look(j);
    if (looks) {
        look(j, shared_error(j));
        if (s->drop > 0)
            drop(j);
    }
    const uint32_t others = j->next.alive & ~1u;
    const bool decided = s->drop > 0 && looks && (others & (others - 1)) == 0 &&
                         clearly_faster(j, leader(j));
    if (!spent && others != 0 && !decided)
        return;
    const int best = leader(j);
    if (!clearly_faster(j, best))
        end_with(j, 0);
    else if (s->confirm > 0)
        confirm(j, best, step_s, now);
    else
        end_with(j, best);
}

static void confirmed(cco_judge *j, double now)
{
    const cco_race_settings *s = j->settings;
    const bool spent = s->seconds > 0 ? now - j->began > s->seconds
                                      : j->next.round >= MOST_CONFIRMED;
    if (!spent || j->next.round < FEWEST_ROUNDS)
        return;
    look(j, ERROR);
    const int best = __builtin_ctz(j->next.alive & ~1u);
    end_with(j, clearly_faster(j, best) ? best : 0);
}

/* Seconds of a step of the reference in this round. */
static double reference(int blocks, const int8_t *order, const double *step_s)
{
    double sum = 0;
    int n = 0;
    for (int i = 0; i < blocks; i++)
        if (order[i] == 0) {
            sum += step_s[i];
            n++;
        }
    return n > 0 ? sum / n : 0;
}

static void screen(cco_judge *j, double step_s)
{
    const double steps = step_s > 0 ? 1e-3 * j->settings->block_ms / step_s + 1 : 1;
    j->next.stage = CCO_RACE_SCREEN;
    j->next.steps = steps < MOST_STEPS ? (int32_t)steps : MOST_STEPS;
    j->next.round = 0;
}

void cco_judge_round(cco_judge *j, int blocks, const int8_t *order, const double *step_s,
                     double now)
{
    const double step = reference(blocks, order, step_s);
    j->dropped = 0;
    if (j->next.stage == CCO_RACE_WARM) {
        screen(j, step);
        return;
    }
    add_round(j, blocks, order, step_s);
    j->next.round++;
    if (j->next.stage == CCO_RACE_SCREEN)
        screened(j, step, now);
    else
        confirmed(j, now);
}
