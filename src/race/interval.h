/* SPDX-License-Identifier: BSD-3-Clause */
/* interval.h - a mean and its confidence interval. */
#ifndef CCO_INTERVAL_H
#define CCO_INTERVAL_H

typedef struct cco_interval {
    double center, low, high;
} cco_interval;

/* The mean of `n` values without the share `trim` (0 to 0.4) at either end, with a two-sided
 * interval that misses it with probability `error` (Tukey and McLaughlin 1963; Student's t for
 * trim 0).  Sorts the values.  With less than two values left, the interval is infinite. */
cco_interval cco_interval_of(double *values, int n, double trim, double error);

/* The quantile of Student's t distribution: exceeded with probability `tail` (0 to 0.5, not 0). */
double cco_t_quantile(double tail, double freedom);

#endif
