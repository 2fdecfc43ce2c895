/* SPDX-License-Identifier: BSD-3-Clause */
/* test_race_online.c - races of CRESTA_ONLINE on a made-up machine: how many steps of the program
 * they need, which arm they come to in few, how often they name a winner among arms that are the
 * same; and which arms run against which. */
#include "race/online.h"

#include <math.h>
#include <string.h>

#include "reduce/classes.h"
#include "race/sequence.h"
#include "testing/testing.h"

enum { ARMS = 4, SEEDS = 200, RUN = 500, LEARNT = 60 }; /* steps; those before the first round */
enum { SHM = 1, P2P = 2, NONBLOCK = 3 };                /* arms */

/* Steps of all arms take `step_s`, times `of` the arm, times `later` in all but its first two steps
 * of a block, with noise, and with interruptions. */
typedef struct machine {
    double step_s, of[ARMS], later[ARMS];
    double noise, interruptions; /* standard deviation; a second */
    uint64_t state;
} machine;

static double chance(machine *m)
{
    m->state = cco_mix(m->state, 7);
    return ((double)(m->state >> 11) + 0.5) / (double)(1ull << 53);
}

static double normal(machine *m)
{
    return sqrt(-2 * log(chance(m))) * cos(2 * M_PI * chance(m));
}

static double step(machine *m, int arm, int number)
{
    double s = m->step_s * m->of[arm] * exp(m->noise * normal(m)) *
               (number < 2 ? 1 : m->later[arm]);
    if (chance(m) < m->interruptions * s)
        s += 4e-3 + 12e-3 * chance(m);
    return s;
}

static machine alike(double step_s)
{
    machine m = {.step_s = step_s, .noise = 0.1, .interruptions = 2};
    for (int arm = 0; arm < ARMS; arm++)
        m.of[arm] = m.later[arm] = 1;
    return m;
}

static double block(machine *m, int arm, const cco_race_next *next)
{
    double seconds = 0;
    for (int i = 0; i < next->steps; i++)
        seconds += step(m, arm, i);
    return seconds / next->steps;
}

typedef struct outcome {
    int arm; /* that won; -1: none yet */
    int steps;
    uint32_t open;
} outcome;

/* A judge of races that may cost 2 % of the program. */
static void begin_judge(cco_judge *judge, machine *m, uint64_t seed)
{
    static cco_race_settings s; /* which the judge goes on reading */
    cco_race_settings_preset(&s);
    s.seed = (double)seed;
    s.regret = 0.02;
    s.arms = ARMS;
    m->state = seed * 77 + 1;
    cco_judge_begin(judge, &s, 0);
}

/* The first race of a program with at most so many steps. */
static outcome race(machine m, int most, uint64_t seed)
{
    static cco_judge judge;
    int8_t order[CCO_BLOCKS];
    double step_s[CCO_BLOCKS], now = 0;
    outcome o = {.arm = -1};
    begin_judge(&judge, &m, seed);
    while (judge.next.stage != CCO_RACE_OVER && o.steps < most) {
        const int blocks = cco_race_order(seed, &judge.next, order);
        for (int i = 0; i < blocks; i++) {
            step_s[i] = block(&m, order[i], &judge.next);
            now += step_s[i] * judge.next.steps;
            o.steps += judge.next.steps;
        }
        cco_judge_round(&judge, blocks, order, step_s, now);
    }
    if (judge.next.stage == CCO_RACE_OVER)
        o.arm = judge.next.arm;
    o.open = judge.next.left;
    return o;
}

/* A round of a race that goes on; how many steps it takes. */
static int go_round(cco_judge *judge, machine *m, double *now, int blocks[ARMS])
{
    int8_t order[CCO_BLOCKS];
    double step_s[CCO_BLOCKS];
    const int steps = judge->next.steps;
    const bool counts = judge->next.stage == CCO_RACE_SCREEN ||
                        judge->next.stage == CCO_RACE_CONFIRM;
    const int n = cco_race_order((uint64_t)judge->settings->seed, &judge->next, order);
    for (int i = 0; i < n; i++) {
        step_s[i] = block(m, order[i], &judge->next);
        *now += step_s[i] * steps;
        blocks[order[i]] += counts;
    }
    cco_judge_round(judge, n, order, step_s, *now);
    return n * steps;
}

/* Whether none is settled on before all that have not been found slower had as many blocks. */
static void check_turns(const cco_judge *judge, const int blocks[ARMS], uint32_t dropped)
{
    for (int arm = 0; arm < ARMS; arm++) {
        CHECK(blocks[arm] >= 8, "arm %d has had %d blocks", arm, blocks[arm]);
        CHECK(dropped >> arm & 1 || blocks[arm] == blocks[judge->next.arm],
              "arm %d has had %d blocks, arm %d %d", arm, blocks[arm], judge->next.arm,
              blocks[judge->next.arm]);
    }
}

/* What a program of `RUN` steps comes to, race after race: the winner, or the best so far. */
static int choice(machine m, uint64_t seed)
{
    static cco_judge judge;
    int steps = LEARNT, home = 0, races = 0, blocks[ARMS] = {0};
    uint32_t dropped = 0;
    double now = 0;
    begin_judge(&judge, &m, seed);
    while (steps < RUN) {
        steps += go_round(&judge, &m, &now, blocks);
        dropped |= judge.dropped;
        if (judge.next.stage != CCO_RACE_OVER)
            continue;
        home = judge.next.arm;
        if (races++ == 0)
            check_turns(&judge, blocks, dropped);
        if (judge.next.left == 0)
            return home;
        cco_judge_go_on(&judge, CCO_FIND_BEST, home, 1u << home | judge.next.left, now);
    }
    return home != 0 ? home : judge.favorite;
}

/* The best arm is what a run of few steps comes to, where another is nearly as good. */
static void check_choice(double step_s, double noise, double shm, double p2p, double nonblock)
{
    int best = 0;
    machine m = alike(step_s);
    m.noise = noise;
    m.of[SHM] = shm;
    m.of[P2P] = p2p;
    m.of[NONBLOCK] = nonblock;
    for (uint64_t seed = 1; seed <= 2 * SEEDS; seed++)
        best += choice(m, seed) == SHM;
    CHECK(best >= 2 * SEEDS * 95 / 100, "%g and %g, %g s: the best in %d of %d runs of %d steps",
          shm, p2p, step_s, best, 2 * SEEDS, RUN);
}

/* No arm is said to be faster where all are equal, whatever the machine does. */
static void check_alike(double noise, double interruptions)
{
    int claims = 0;
    machine m = alike(5e-4);
    m.noise = noise;
    m.interruptions = interruptions;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        claims += race(m, 20000, seed).arm > 0;
    CHECK(claims <= SEEDS / 20, "%d of %d races of equal arms have a winner", claims, SEEDS);
}

/* A large gain takes few steps. */
static void check_few_steps(double step_s, int most)
{
    int found = 0;
    machine m = alike(step_s);
    m.of[SHM] = 0.8;
    m.of[NONBLOCK] = 1.07;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        found += race(m, most, seed).arm == SHM;
    CHECK(found >= SEEDS * 8 / 10, "20 %% of %g s are found in %d steps in %d of %d races", step_s,
          most, found, SEEDS);
}

/* A small gain is found in the end. */
static void check_small_gain(void)
{
    int found = 0, wrong = 0;
    machine m = alike(5e-4);
    m.of[P2P] = 0.97;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        const int arm = race(m, 40000, seed).arm;
        found += arm == P2P;
        wrong += arm > 0 && arm != P2P;
    }
    CHECK(found >= SEEDS / 2 && wrong <= SEEDS / 20, "3 %%: %d found, %d wrong", found, wrong);
}

/* Fast at once, slow in the long run: it does not win. */
static void check_tempting(void)
{
    int wins = 0;
    machine m = alike(5e-4);
    m.of[SHM] = 0.8;
    m.later[SHM] = 2;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        wins += race(m, 20000, seed).arm == SHM;
    CHECK(wins == 0, "an arm that is slow in the long run wins %d races", wins);
}

/* What is as good as the winner runs against it later; what is clearly slower does not. */
static void check_open(void)
{
    machine m = alike(5e-4);
    m.of[SHM] = m.of[P2P] = 0.8;
    m.of[NONBLOCK] = 2;
    const outcome o = race(m, 20000, 3);
    CHECK(o.arm == SHM || o.arm == P2P, "arm %d wins", o.arm);
    CHECK(o.open == (1u << SHM | 1u << P2P) - (1u << o.arm), "arms %x are open", o.open);
}

static bool names(int arm, uint32_t used, const char *rule)
{
    char text[1024];
    cco_online_rules(arm, used, text, sizeof text);
    return strstr(text, rule) != NULL;
}

static const uint32_t steps_of_program = 1u << CCO_ALLTOALL | 1u << CCO_ALLREDUCE;

/* One race after the other. */
static void check_heats(void)
{
    cco_race_settings s;
    cco_heat heat;
    cco_race_settings_preset(&s);
    cco_online_begin(&s, true, true);
    CHECK(cco_online_start(&s, 0, &heat) && heat.alive == 0xf, "all models first");
    CHECK(cco_online_next(&s, SHM, 1u << P2P, steps_of_program, &heat), "a race follows");
    CHECK(heat.aim == CCO_FIND_BEST && heat.reference == SHM, "against the best so far");
    CHECK(heat.alive == (1u << SHM | 1u << P2P), "of what is open: %x", heat.alive);
    const int parts = s.arms;
    CHECK(cco_online_next(&s, SHM, 0, steps_of_program, &heat), "its parts follow");
    CHECK(heat.aim == CCO_FIND_PARTS && s.arms == parts + 2, "two of them");
    CHECK(!names(parts, ~0u, "alltoall=") || !names(parts + 1, ~0u, "alltoall="), "one without");
    CHECK(cco_online_next(&s, SHM, 0, steps_of_program, &heat) && heat.aim == CCO_GUARD, "a guard");
    CHECK(!cco_online_next(&s, SHM, 0, steps_of_program, &heat), "nothing follows");
    cco_race_settings_free(&s);
}

/* Rules name reductions only of what has the same bits in any order. */
static void check_reductions(void)
{
    cco_race_settings s;
    cco_race_settings_preset(&s);
    cco_online_begin(&s, true, false);
    const char *rule = "allreduce{type=integer&operation=predefined}=shm";
    CHECK(names(SHM, steps_of_program, rule), "integers");
    CHECK(!names(SHM, steps_of_program, "allreduce="), "nothing else");
    const int trimmed = cco_online_trim(&s, SHM, 1u << CCO_ALLTOALL);
    CHECK(trimmed != SHM && names(trimmed, ~0u, "alltoall=shm") && !names(trimmed, ~0u, "reduce"),
          "a program without them has no rule for them");
    CHECK(cco_online_trim(&s, trimmed, 1u << CCO_ALLTOALL) == trimmed, "nothing to leave out");
    CHECK(cco_online_trim(&s, 0, 0) == 0, "what is chosen stays");
    cco_race_settings_free(&s);
}

int main(void)
{
    check_alike(0.05, 1);
    check_alike(0.3, 0);
    check_alike(0.1, 20);
    check_few_steps(5e-4, 300);
    check_few_steps(1.25e-4, 500);
    check_choice(5e-4, 0.1, 0.8, 0.85, 1.05);
    check_choice(5e-4, 0.1, 0.9, 0.95, 1.05);
    check_choice(5e-4, 0.2, 0.7, 0.9, 1.07);
    check_choice(1.5e-4, 0.1, 0.8, 0.85, 1.05);
    check_choice(1.5e-4, 0.05, 0.65, 1.01, 1.07);
    check_small_gain();
    check_tempting();
    check_open();
    check_heats();
    check_reductions();
    return testing_end("race_online");
}
