/* SPDX-License-Identifier: BSD-3-Clause */
/* regret.h - what it costs a program that other arms than the best one are tried in it, and how
 * long it is to rest from that. */
#ifndef CCO_RACE_REGRET_H
#define CCO_RACE_REGRET_H

#include <stdbool.h>
#include <stdint.h>

typedef struct cco_regret {
    double told_s;    /* seconds more than with the best arm, so far; */
    double charged_s; /* as much of them as makes for a rest */
    double step_s;    /* of the quickest arm, about; 0: not known yet */
} cco_regret;

/* Seconds of a step of an arm in a round: the mean of its blocks, 0 if it has none. */
double cco_step_of(int arm, int blocks, const int8_t *order, const double *step_s);

/* Seconds of a step in the quickest block: no other program ran meanwhile. */
double cco_least_step(int blocks, const double *step_s);

/* Seconds that were lost outside of the rounds, for example with what an arm sets up. */
void cco_regret_add(cco_regret *regret, double seconds);

/* A round with blocks of so many steps, against the steps of `best`.  `pairs`: the blocks come
 * there and back, so that each arm has two. */
void cco_regret_add_round(cco_regret *regret, int best, bool pairs, int steps, int blocks,
                          const int8_t *order, const double *step_s);

/* Seconds of rest that are due, so that trying costs no more than a `share` of the time `spent_s`;
 * 0 if none. */
double cco_regret_rest(const cco_regret *regret, double share, double spent_s);

#endif
