/* SPDX-License-Identifier: BSD-3-Clause */
/* quantile.h - medians and their neighbours. */
#ifndef BENCH_QUANTILE_H
#define BENCH_QUANTILE_H

/* The value at a share (0 to 1) of the sorted values, between two of them if need be; 0 if there
 * are none.  Sorts. */
double bench_quantile(double *values, int n, double at);

#endif
