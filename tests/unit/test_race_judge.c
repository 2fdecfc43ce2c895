/* SPDX-License-Identifier: BSD-3-Clause */
/* test_race_judge.c - races on a machine that is made up: each arm has a step time, with noise,
 * outliers and a drift that is the same for all. */
#include <math.h>
#include <stdlib.h>

#include "race/judge.h"
#include "race/sequence.h"
#include "testing/testing.h"

/* What an arm costs: `at_once` in the first steps of a block, `later` in the others. */
typedef struct machine {
    int arms;
    double at_once[CCO_ARMS], later[CCO_ARMS];
    double noise;
} machine;

enum { AT_ONCE = 5 }; /* steps */

static double chance(uint64_t *state)
{
    *state = cco_mix(*state, 7);
    return (double)(*state >> 11) / (double)(1ull << 53);
}

/* Seconds of a step in a block. */
static double block(const machine *m, int arm, int steps, double now, uint64_t *state)
{
    const int first = steps < AT_ONCE ? steps : AT_ONCE;
    const double mean = (m->at_once[arm] * first + m->later[arm] * (steps - first)) / steps;
    const double drift = 1 + 0.3 * sin(now);
    const double outlier = chance(state) < 0.005 ? 2 : 0;
    return mean * drift * (1 + m->noise * (chance(state) - 0.5) / sqrt(steps) + outlier / steps);
}

typedef struct outcome {
    int arm;
    cco_interval interval;
    uint32_t dropped; /* bit per arm that left early */
} outcome;

/* A race of `seconds` made-up seconds. */
static outcome race(const machine *m, double seconds, bool drops, uint64_t seed)
{
    static cco_judge judge;
    cco_race_settings settings = {.seconds = seconds,
                                  .seed = seed,
                                  .block_ms = 1,
                                  .drop = drops,
                                  .confirm = 1,
                                  .arms = m->arms};
    int8_t order[CCO_BLOCKS];
    double step_s[CCO_BLOCKS], now = 0;
    uint64_t state = seed * 77 + 1;
    outcome o = {0};
    cco_judge_begin(&judge, &settings, now);
    while (judge.next.stage != CCO_RACE_OVER) {
        const int blocks = cco_race_order(seed, &judge.next, order);
        for (int i = 0; i < blocks; i++) {
            step_s[i] = block(m, order[i], judge.next.steps, now, &state);
            now += step_s[i] * judge.next.steps;
        }
        cco_judge_round(&judge, blocks, order, step_s, now);
        o.dropped |= judge.dropped;
        if (now > 10 * seconds + 10)
            break;
    }
    CHECK(judge.next.stage == CCO_RACE_OVER, "the race ends");
    o.arm = judge.next.arm;
    o.interval = judge.interval[o.arm];
    return o;
}

static machine equal_arms(int arms, double step_s)
{
    machine m = {.arms = arms, .noise = 0.2};
    for (int i = 0; i < arms; i++)
        m.at_once[i] = m.later[i] = step_s;
    return m;
}

static void set(machine *m, int arm, double at_once, double later)
{
    m->at_once[arm] *= at_once;
    m->later[arm] *= later;
}

static void check_orders(void)
{
    const cco_race_next next = {.stage = CCO_RACE_SCREEN, .alive = 0x2b, .round = 3};
    int8_t order[CCO_BLOCKS];
    int first[6] = {0};
    CHECK(cco_race_order(1, &next, order) == 8, "two blocks of each of four arms");
    for (int i = 0; i < 4; i++) {
        CHECK(order[i] == order[7 - i], "there and back");
        CHECK(next.alive >> order[i] & 1, "an arm that is alive");
    }
    for (unsigned round = 0; round < 4000; round++) {
        cco_race_order(9, &(cco_race_next){.stage = 1, .alive = 0x2b, .round = round}, order);
        first[order[0]]++;
    }
    for (int arm = 0; arm < 6; arm++)
        if (next.alive >> arm & 1)
            CHECK(first[arm] > 850 && first[arm] < 1150, "arm %d comes first in %d", arm,
                  first[arm]);
}

/* Goes on with a race until it is over, or `seconds` have passed; the seconds that ran under `arm`.
 */
static double go_on(cco_judge *judge, const machine *m, double *now, double seconds, int arm,
                    uint64_t seed)
{
    int8_t order[CCO_BLOCKS];
    double step_s[CCO_BLOCKS], under = 0;
    uint64_t state = seed * 77 + 1;
    const double end = *now + seconds;
    while (judge->next.stage != CCO_RACE_OVER && *now < end) {
        const int blocks = cco_race_order(seed, &judge->next, order);
        for (int i = 0; i < blocks; i++) {
            step_s[i] = block(m, order[i], judge->next.steps, *now, &state);
            *now += step_s[i] * judge->next.steps;
            under += order[i] == arm ? step_s[i] * judge->next.steps : 0;
        }
        cco_judge_round(judge, blocks, order, step_s, *now);
    }
    return under;
}

static cco_race_settings online(int arms)
{
    return (cco_race_settings){.block_ms = 1,
                               .seed = 1,
                               .drop = 1,
                               .confirm = 1,
                               .regret = 0.02,
                               .guard = 0.01,
                               .arms = arms};
}

/* Arms that are much slower cost their share of the time and no more; the best one is found. */
static void check_regret(void)
{
    static cco_judge judge;
    const cco_race_settings settings = online(4);
    machine m = equal_arms(4, 2e-3);
    set(&m, 1, 0.8, 0.8);
    set(&m, 2, 0.8, 0.8); /* as good as the best */
    set(&m, 3, 8, 8);
    for (uint64_t seed = 1; seed <= 20; seed++) {
        double now = 0;
        cco_judge_begin(&judge, &settings, now);
        go_on(&judge, &m, &now, 60, 3, seed);
        CHECK(judge.next.stage == CCO_RACE_OVER, "it is over in a minute");
        CHECK(judge.next.arm == 1 || judge.next.arm == 2, "arm %d wins", judge.next.arm);
        const double most = 0.05 + 0.02 * now + 2 * 2e-3 * (2 * 8 + 4 * 2);
        CHECK(judge.regret.told_s < most, "%.3f s were lost in %.3f s", judge.regret.told_s, now);
    }
}

/* Parts of the winner that are better left out are left out together. */
static void check_parts(void)
{
    static cco_judge judge;
    cco_race_settings settings = online(5);
    machine m = equal_arms(6, 2e-3);
    set(&m, 1, 0.9, 0.9);
    set(&m, 2, 0.9, 0.9);
    set(&m, 3, 1.1, 1.1);
    set(&m, 5, 0.8, 0.8); /* 1 and 2 together */
    double now = 0;
    cco_judge_begin(&judge, &settings, now);
    cco_judge_go_on(&judge, CCO_FIND_PARTS, 4, 0x1e, now);
    while (judge.next.stage == CCO_RACE_WARM || judge.next.stage == CCO_RACE_SCREEN ||
           judge.next.stage == CCO_RACE_REST)
        go_on(&judge, &m, &now, 1e-6, 0, 3);
    CHECK(judge.next.parts == 0x6, "parts %x are better", judge.next.parts);
    CHECK(judge.next.alive == (1u << 4 | 1u << 5), "both against the reference");
    settings.arms = 6;
    go_on(&judge, &m, &now, 60, 0, 3);
    CHECK(judge.next.stage == CCO_RACE_OVER && judge.next.arm == 5, "together they win");
}

/* A choice that is good stays; one that turns bad is left. */
static void check_guard(void)
{
    static cco_judge judge;
    const cco_race_settings settings = online(2);
    machine m = equal_arms(2, 2e-3);
    double now = 0;
    int left = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        now = 0;
        cco_judge_begin(&judge, &settings, now);
        cco_judge_go_on(&judge, CCO_GUARD, 0, 3, now);
        const double tried = go_on(&judge, &m, &now, 600, 1, seed);
        left += judge.next.stage == CCO_RACE_OVER;
        CHECK(tried < 0.02 * now + 1, "%.2f of %.2f s go to the guard", tried, now);
    }
    CHECK(left <= 2, "%d of 20 choices that are as good are left", left);
    set(&m, 0, 0.8, 0.8);
    cco_judge_begin(&judge, &settings, now);
    cco_judge_go_on(&judge, CCO_GUARD, 0, 3, now);
    go_on(&judge, &m, &now, 600, 1, 7);
    CHECK(judge.next.stage != CCO_RACE_OVER, "a better one stays");
    set(&m, 0, 1.5, 1.5);
    go_on(&judge, &m, &now, 600, 1, 8);
    CHECK(judge.next.stage == CCO_RACE_OVER && judge.next.arm == 1, "it has turned bad");
}

int main(void)
{
    enum { TIMES = 200 };
    int claims = 0, found = 0, late = 0, missed = 0;
    machine same = equal_arms(4, 2e-3), better = same, worse = same, tempting = same;
    set(&better, 2, 0.97, 0.97);
    set(&worse, 1, 1.10, 1.10);
    set(&worse, 3, 0.90, 0.90);
    set(&tempting, 1, 0.85, 2.0); /* fast at once, slow in the long run */
    check_orders();
    check_regret();
    check_parts();
    check_guard();
    for (uint64_t seed = 1; seed <= TIMES; seed++) {
        claims += race(&same, 10, true, seed).arm != 0;
        found += race(&better, 10, true, seed).arm == 2;
        late += race(&tempting, 10, true, seed).arm != 0;
        const outcome o = race(&worse, 10, true, seed);
        CHECK(o.arm == 3, "10 %% faster: arm %d", o.arm);
        missed += o.interval.low > log(0.9) || o.interval.high < log(0.9);
        CHECK(o.dropped == (1u << 1 | 1u << 2), "slow arms leave, not %x", o.dropped);
    }
    CHECK(missed <= TIMES / 10, "%d of %d intervals miss what is so", missed, TIMES);
    CHECK(claims <= TIMES / 20, "%d of %d races of equal arms have a winner", claims, TIMES);
    CHECK(found >= TIMES * 9 / 10, "3 %% is found in %d of %d races", found, TIMES);
    CHECK(late == 0, "an arm that is slow in the long run wins %d races", late);
    machine tiny = equal_arms(2, 5e-6);
    set(&tiny, 1, 0.8, 0.8);
    CHECK(race(&tiny, 3, true, 5).arm == 1, "steps of microseconds");
    machine slow = equal_arms(2, 0.2);
    set(&slow, 1, 0.5, 0.5);
    CHECK(race(&slow, 60, true, 5).arm == 1, "steps of a fifth of a second");
    return testing_end("race_judge");
}
