/* SPDX-License-Identifier: BSD-3-Clause */
/* judge.h - what becomes of a race after each round: rank 0's decisions, from numbers alone.
 *
 * A round is a block of steps of each arm in a random order, and then again in the reverse order,
 * so that what changes evenly in time cancels out.  It gives each arm one difference from the
 * reference: the logarithm of the ratio of their steps in this round, for with much noise plain
 * ratios make equal arms look slow.  Short blocks sieve the arms
 * (20 % trimmed means: one block in which the machine did something else must not decide).  Then
 * the leader and the reference take turns in long blocks, where an implementation shows what it
 * does in the long run; it wins if mean and trimmed mean both say so.
 *
 * A program that is to run well meanwhile (`regret` in the settings) may have few steps.  There all
 * arms that are left go to the long blocks as soon as one is faster than the reference.  These are
 * shorter at first, and grow until one has won; what is not told apart from it then can be compared
 * with it in another race. */
#ifndef CCO_JUDGE_H
#define CCO_JUDGE_H

#include "race/differences.h"
#include "race/interval.h"
#include "race/regret.h"
#include "race/settings.h"

typedef enum cco_race_stage {
    CCO_RACE_WARM,    /* each arm once: what it sets up, and how long a step takes */
    CCO_RACE_SCREEN,  /* short blocks, many arms */
    CCO_RACE_CONFIRM, /* long blocks, two arms */
    CCO_RACE_REST,    /* nothing is tried: the best so far */
    CCO_RACE_OVER
} cco_race_stage;

/* What a race is to find out. */
typedef enum cco_race_aim {
    CCO_FIND_BEST,  /* which arm is the best */
    CCO_FIND_PARTS, /* which arms are better than the reference; they may be combined */
    CCO_GUARD       /* whether the reference is still better than the other, again and again */
} cco_race_aim;

enum { CCO_BLOCKS = 2 * CCO_ARMS /* of a round, at most */ };

/* What happens next, the same on all ranks. */
typedef struct cco_race_next {
    int32_t stage;
    uint32_t alive; /* bit per arm */
    int32_t steps;  /* of a block */
    int32_t arm;    /* at the end: the one that won, the reference if none did better */
    uint32_t round; /* of this stage */
    uint32_t left;  /* at the end: bit per arm that may be as good as the one that won */
    uint32_t parts; /* CCO_FIND_PARTS, once screened: bit per arm that is better, if several are;
                       what all of them have in common has the number `settings->arms` */
} cco_race_next;

typedef struct cco_judge {
    const cco_race_settings *settings;
    cco_race_aim aim;
    int reference;
    int favorite;   /* the best arm as far as is known: the reference unless another is clear */
    int contenders; /* arms at first, without the reference */
    cco_race_next next, after;       /* what follows CCO_RACE_REST */
    double born, began;              /* seconds at which the first race and this one began */
    cco_regret regret;               /* of all races so far */
    cco_differences differences;     /* in this stage, or since what was before was forgotten */
    cco_interval interval[CCO_ARMS]; /* of logarithms, at the last look, trimmed; */
    cco_interval mean[CCO_ARMS];     /* not trimmed */
    uint32_t dropped;                /* arms that the last round made leave */
} cco_judge;

/* The first race: the best of all arms, with the first as the reference.  Begins with a round of
 * CCO_RACE_WARM. */
void cco_judge_begin(cco_judge *judge, const cco_race_settings *settings, double now);

/* Another one, of the arms in `alive`. */
void cco_judge_go_on(cco_judge *judge, cco_race_aim aim, int reference, uint32_t alive, double now);

/* The first round of any race. */
cco_race_next cco_race_first(uint32_t alive);

/* The arms of the blocks of a round, in their order; returns how many blocks there are. */
int cco_race_order(uint64_t seed, const cco_race_next *next, int8_t order[CCO_BLOCKS]);

/* A round is over: seconds of a step in each of its blocks.  Sets judge->next, and judge->dropped.
 */
void cco_judge_round(cco_judge *judge, int blocks, const int8_t *order, const double *step_s,
                     double now);

#endif
