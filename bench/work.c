/* SPDX-License-Identifier: BSD-3-Clause */
/* work.c - see work.h. */
#include "work.h"

#include "bench.h"

enum { TRIALS = 7 };

static volatile double sink;

void bench_compute(double units)
{
    double a = 1.0, b = 0.5;
    for (long i = 0; i < (long)units; i++) {
        a = a * 0.999999 + b;
        b = b * 1.000001 - 1e-9 * a;
    }
    sink = a + b;
}

/* The fastest of some trials: others were disturbed. */
double bench_compute_rate(void)
{
    const double units = 200000;
    double best = 1e9;
    for (int i = 0; i < TRIALS; i++) {
        const double start = bench_now();
        bench_compute(units);
        const double us = 1e6 * (bench_now() - start);
        best = us < best ? us : best;
    }
    return units / best;
}
