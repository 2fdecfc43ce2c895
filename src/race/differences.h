/* SPDX-License-Identifier: BSD-3-Clause */
/* differences.h - what the rounds of a race have shown: of each arm and round, the difference of
 * its steps from those of the reference. */
#ifndef CCO_DIFFERENCES_H
#define CCO_DIFFERENCES_H

#include <stdint.h>

#include "race/interval.h"
#include "race/settings.h"

enum { CCO_DIFFERENCES = 512 /* of an arm that are kept; then two become one */ };

typedef struct cco_differences {
    int rounds;  /* that have a difference of each arm, */
    int merged;  /* each of which stands for so many rounds */
    int pending; /* rounds in the last one, which is not complete */
    double of[CCO_ARMS][CCO_DIFFERENCES];
} cco_differences;

void cco_differences_forget(cco_differences *d);

/* A round: the arms of its blocks, and the seconds of a step in each. */
void cco_differences_add(cco_differences *d, int reference, int blocks, const int8_t *order,
                         const double *step_s);

/* The mean of what an arm's steps took more than another's, as a logarithm, trimmed at both ends by
 * a share, with the interval that is wrong with this probability.  Both must have been in all
 * rounds. */
cco_interval cco_differences_between(const cco_differences *d, int arm, int other, double trim,
                                     double error);

#endif
