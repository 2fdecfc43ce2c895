/* SPDX-License-Identifier: BSD-3-Clause */
/* work.h - computation to put between a begin and an end: arithmetic that stays in registers, so
 * that nothing in it depends on memory or on the MPI. */
#ifndef BENCH_WORK_H
#define BENCH_WORK_H

void bench_compute(double units);

/* Units in a microsecond, of a rank that nothing disturbs. */
double bench_compute_rate(void);

#endif
