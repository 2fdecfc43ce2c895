/* SPDX-License-Identifier: BSD-3-Clause */
/* differences.c - see differences.h. */
#include "race/differences.h"

#include <math.h>

void cco_differences_forget(cco_differences *d)
{
    d->rounds = d->pending = 0;
    d->merged = 1;
}

/* Where there is no more room, pairs of rounds become one. */
static void differences_merge(cco_differences *d)
{
    for (int arm = 0; arm < CCO_ARMS; arm++)
        for (int i = 0; i < CCO_DIFFERENCES / 2; i++)
            d->of[arm][i] = (d->of[arm][2 * i] + d->of[arm][2 * i + 1]) / 2;
    d->rounds = CCO_DIFFERENCES / 2;
    d->merged *= 2;
}

void cco_differences_add(cco_differences *d, int reference, int blocks, const int8_t *order,
                         const double *step_s)
{
    double of[CCO_ARMS] = {0};
    for (int i = 0; i < blocks; i++)
        of[order[i]] += step_s[i];
    if (d->pending == 0 && d->rounds == CCO_DIFFERENCES)
        differences_merge(d);
    for (int arm = 0; arm < CCO_ARMS && of[reference] > 0; arm++) {
        if (of[arm] <= 0)
            continue;
        double *last = &d->of[arm][d->rounds];
        const double sum = d->pending > 0 ? *last * d->pending : 0;
        *last = (sum + log(of[arm] / of[reference])) / (d->pending + 1);
    }
    d->pending = (d->pending + 1) % d->merged;
    d->rounds += d->pending == 0;
}

cco_interval cco_differences_between(const cco_differences *d, int arm, int other, double trim,
                                     double error)
{
    double more[CCO_DIFFERENCES];
    for (int i = 0; i < d->rounds; i++)
        more[i] = d->of[arm][i] - d->of[other][i];
    return cco_interval_of(more, d->rounds, trim, error);
}
