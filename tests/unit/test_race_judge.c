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
