/* SPDX-License-Identifier: BSD-3-Clause */
/* regret.c - see regret.h. */
#include "race/regret.h"

#include <math.h>

static const double FREE_S = 50e-3; /* before a share of the time counts, */
static const double FREE_STEPS = 4; /* or so many steps */
static const double LONGEST_REST_S = 10;

double cco_step_of(int arm, int blocks, const int8_t *order, const double *step_s)
{
    double sum = 0;
    int n = 0;
    for (int i = 0; i < blocks; i++)
        if (order[i] == arm) {
            sum += step_s[i];
            n++;
        }
    return n > 0 ? sum / n : 0;
}

double cco_least_step(int blocks, const double *step_s)
{
    double least = step_s[0];
    for (int i = 1; i < blocks; i++)
        least = fmin(least, step_s[i]);
    return least;
}

void cco_regret_add(cco_regret *regret, double seconds)
{
    regret->told_s += seconds;
    regret->charged_s += seconds;
}

/* The quicker of the two blocks of an arm says what is charged for both: what another program does
 * to one of them is not the arm's. */
static double regret_quicker(bool pairs, int i, int blocks, const double *step_s)
{
    return pairs ? fmin(step_s[i], step_s[blocks - 1 - i]) : step_s[i];
}

void cco_regret_add_round(cco_regret *regret, int best, bool pairs, int steps, int blocks,
                          const int8_t *order, const double *step_s)
{
    const double best_s = cco_step_of(best, blocks, order, step_s);
    double best_charged_s = 0;
    for (int i = 0; i < blocks; i++)
        if (order[i] == best)
            best_charged_s = regret_quicker(pairs, i, blocks, step_s);
    for (int i = 0; i < blocks; i++) {
        regret->told_s += (step_s[i] - best_s) * steps;
        regret->charged_s += (regret_quicker(pairs, i, blocks, step_s) - best_charged_s) * steps;
    }
}

double cco_regret_rest(const cco_regret *regret, double share, double spent_s)
{
    const double free_s = fmax(FREE_S, FREE_STEPS * regret->step_s);
    const double over = regret->charged_s - free_s - share * spent_s;
    return over > 0 ? fmin(over / share, LONGEST_REST_S) : 0;
}
