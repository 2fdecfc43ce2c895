/* SPDX-License-Identifier: BSD-3-Clause */
/* test_race_turn.c - whose turn it is where arms take turns by calls. */
#include <string.h>

#include "race/turn.h"
#include "testing/testing.h"

enum { ARMS = 5, CALLS = 4 };

/* Things are set up first, by a call of each arm. */
static void warm(cco_turn *turn)
{
    bool had[ARMS] = {false};
    for (int i = 0; i < ARMS; i++) {
        CHECK(!cco_turn_counts(turn) && cco_turn_counted(turn) == 0, "call %d counts", i);
        had[cco_turn_arm(turn)] = true;
        CHECK(cco_turn_next(turn) == (i == ARMS - 1), "call %d ends the round", i);
    }
    for (int arm = 0; arm < ARMS; arm++)
        CHECK(had[arm], "arm %d is not set up", arm);
    cco_turn_begin_round(turn);
}

/* A round: its calls, those that count for each arm, and its order. */
static int go_round(cco_turn *turn, int counted[ARMS], int8_t order[CCO_BLOCKS])
{
    int calls = 0, blocks = 0;
    memset(counted, 0, ARMS * sizeof *counted);
    do {
        if (turn->call == 0)
            order[blocks++] = (int8_t)cco_turn_arm(turn);
        counted[cco_turn_arm(turn)] += cco_turn_counts(turn);
        calls++;
    } while (!cco_turn_next(turn));
    CHECK(blocks == 2 * ARMS, "%d blocks", blocks);
    for (int i = 0; i < blocks; i++)
        CHECK(order[i] == order[blocks - 1 - i], "block %d: no mirror", i);
    return calls;
}

/* Every arm has as many calls as any other, also where blocks have become longer. */
static void test_rounds(void)
{
    int counted[ARMS], last = 0, differ = 0;
    int8_t order[CCO_BLOCKS], before[CCO_BLOCKS] = {0};
    cco_turn turn;
    cco_turn_begin(&turn, 7, ARMS, CALLS);
    warm(&turn);
    for (int round = 0; round < 100; round++) {
        const int counts = cco_turn_counted(&turn);
        const int calls = go_round(&turn, counted, order);
        for (int arm = 0; arm < ARMS; arm++)
            CHECK(counted[arm] == 2 * counts, "round %d, arm %d: %d calls count, not %d", round,
                  arm, counted[arm], 2 * counts);
        CHECK(calls == 2 * ARMS * (counts + 1), "round %d: %d calls", round, calls);
        CHECK(calls >= last, "round %d is shorter", round);
        differ += memcmp(order, before, 2 * ARMS) != 0;
        memcpy(before, order, sizeof before);
        last = calls;
        cco_turn_begin_round(&turn);
    }
    CHECK(last == 8 * 2 * ARMS * CALLS, "blocks do not become longer: %d calls", last);
    CHECK(differ > 80, "rounds have one order: %d others", differ);
}

/* A block of one call has no other call that could count. */
static void test_single_calls(void)
{
    int counted[ARMS];
    int8_t order[CCO_BLOCKS];
    cco_turn turn;
    cco_turn_begin(&turn, 7, ARMS, 1);
    warm(&turn);
    CHECK(go_round(&turn, counted, order) == 2 * ARMS, "another number of calls");
    for (int arm = 0; arm < ARMS; arm++)
        CHECK(counted[arm] == 2, "arm %d: %d calls", arm, counted[arm]);
}

/* Ranks that count alike have the same arms; other rows, other orders. */
static void test_seeds(void)
{
    cco_turn a, b, other;
    int differ = 0;
    cco_turn_begin(&a, 7, ARMS, 2);
    cco_turn_begin(&b, 7, ARMS, 2);
    cco_turn_begin(&other, 8, ARMS, 2);
    for (int i = 0; i < 5000; i++) {
        CHECK(cco_turn_arm(&a) == cco_turn_arm(&b), "call %d: other arms", i);
        differ += cco_turn_arm(&a) != cco_turn_arm(&other);
        cco_turn *all[] = {&a, &b, &other};
        for (int k = 0; k < 3; k++)
            if (cco_turn_next(all[k]))
                cco_turn_begin_round(all[k]);
    }
    CHECK(differ > 1000, "another seed, the same order");
}

int main(void)
{
    test_rounds();
    test_single_calls();
    test_seeds();
    return testing_end("race_turn");
}
