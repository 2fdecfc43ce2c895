/* SPDX-License-Identifier: BSD-3-Clause */
/* turn.c - see turn.h. */
#include "race/turn.h"

enum {
    SAME = 32,   /* rounds with blocks of one length; then they become twice as long, */
    DOUBLED = 10 /* so many times at most */
};

static void set_order(cco_turn *turn)
{
    turn->blocks = cco_race_order(turn->seed, &turn->next, turn->order);
    turn->block = turn->call = 0;
}

void cco_turn_begin(cco_turn *turn, uint64_t seed, int arms, int calls)
{
    *turn = (cco_turn){.seed = seed, .arms = arms, .calls = calls};
    turn->next = (cco_race_next){
        .stage = CCO_RACE_WARM, .alive = (uint32_t)((1ull << arms) - 1), .steps = 1};
    set_order(turn);
}

int cco_turn_arm(const cco_turn *turn)
{
    return turn->order[turn->block];
}

bool cco_turn_counts(const cco_turn *turn)
{
    return turn->next.stage != CCO_RACE_WARM && (turn->call > 0 || turn->next.steps == 1);
}

int cco_turn_counted(const cco_turn *turn)
{
    if (turn->next.stage == CCO_RACE_WARM)
        return 0;
    return turn->next.steps > 1 ? turn->next.steps - 1 : 1;
}

bool cco_turn_next(cco_turn *turn)
{
    if (++turn->call < turn->next.steps)
        return false;
    turn->call = 0;
    return ++turn->block == turn->blocks;
}

void cco_turn_begin_round(cco_turn *turn)
{
    const bool warm = turn->next.stage == CCO_RACE_WARM;
    turn->next.stage = CCO_RACE_SCREEN;
    turn->next.round = warm ? 0 : turn->next.round + 1;
    const uint32_t doubled = turn->next.round / SAME;
    turn->next.steps = turn->calls << (doubled < DOUBLED ? doubled : DOUBLED);
    set_order(turn);
}
