/* SPDX-License-Identifier: BSD-3-Clause */
/* test_validate_numbers.c - which results of a reduction are taken for right, and which calls are
 * checked. */
#include <complex.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "testing/testing.h"
#include "validate/numbers.h"
#include "validate/sample.h"

static cco_numbers of(cco_number number, size_t size, cco_loop loop, int operands)
{
    return (cco_numbers){.number = number, .loop = loop, .size = size, .operands = operands};
}

static cco_judged doubles(cco_loop loop, int operands, double found, double expected, double weight)
{
    const cco_numbers n = of(CCO_R64, sizeof found, loop, operands);
    return cco_numbers_judge(&n, &found, &expected, weight);
}

/* Numbers of all sizes and signs, in 200 orders: no order is taken for wrong. */
static void no_order_is_wrong(cco_loop loop)
{
    enum { P = 37 };
    double x[P], weights[P], weight = 0, first = loop == CCO_LOOP_SUM ? 0 : 1;
    unsigned seed = 7;
    const cco_numbers n = of(CCO_R64, sizeof *x, loop, P);
    for (int i = 0; i < P; i++) {
        seed = seed * 1103515245u + 12345u;
        x[i] = ldexp((double)(seed >> 8) - 0x1p23, (int)(seed >> 4) % 30 - 15);
    }
    cco_numbers_weigh(&n, x, P, weights);
    for (int i = 0; i < P; i++)
        weight += weights[i];
    for (int order = 0; order < 200; order++) {
        double sum = loop == CCO_LOOP_SUM ? 0 : 1;
        for (int i = P - 1; i > 0; i--) {
            seed = seed * 1103515245u + 12345u;
            const int k = (int)(seed >> 8) % (i + 1);
            const double other = x[i];
            x[i] = x[k];
            x[k] = other;
        }
        for (int i = 0; i < P; i++)
            sum = loop == CCO_LOOP_SUM ? sum + x[i] : sum * x[i];
        first = order == 0 ? sum : first;
        CHECK(doubles(loop, P, sum, first, weight) == CCO_SAME, "%.17g %.17g", sum, first);
    }
}

static void sums(void)
{
    const double step = DBL_EPSILON;
    no_order_is_wrong(CCO_LOOP_SUM);
    CHECK(doubles(CCO_LOOP_SUM, 2, 1 + 2 * step, 1, 1) == CCO_SAME, "two roundings");
    CHECK(doubles(CCO_LOOP_SUM, 2, 1 + 8 * step, 1, 1) == CCO_DIFFER, "eight");
    CHECK(doubles(CCO_LOOP_SUM, 2, 1e-13, 0, 1000) == CCO_SAME, "cancelled");
    CHECK(doubles(CCO_LOOP_SUM, 1000, 1.001, 1, 1) == CCO_DIFFER, "a thousand operands");
    CHECK(doubles(CCO_LOOP_SUM, 2, 1e-300, 0, 0) == CCO_DIFFER, "of nothing but zeros");
    CHECK(doubles(CCO_LOOP_SUM, 2, -0.0, 0, 0) == CCO_SAME, "zeros");
    CHECK(doubles(CCO_LOOP_SUM, 2, INFINITY, INFINITY, 1) == CCO_SAME, "infinities");
    CHECK(doubles(CCO_LOOP_SUM, 2, -INFINITY, INFINITY, 1) == CCO_DIFFER, "of both signs");
    CHECK(doubles(CCO_LOOP_SUM, 2, NAN, 1, 1) == CCO_DIFFER, "NaN");
    CHECK(doubles(CCO_LOOP_SUM, 2, NAN, -NAN, 1) == CCO_SAME, "any NaN");
    CHECK(doubles(CCO_LOOP_SUM, 3, INFINITY, DBL_MAX, 3 * DBL_MAX) == CCO_UNJUDGED, "overflow");
}

static void products(void)
{
    no_order_is_wrong(CCO_LOOP_PROD);
    CHECK(doubles(CCO_LOOP_PROD, 2, 6, 6 * (1 + DBL_EPSILON), 6) == CCO_SAME, "rounded");
    CHECK(doubles(CCO_LOOP_PROD, 2, 6, 7, 6) == CCO_DIFFER, "wrong");
    CHECK(doubles(CCO_LOOP_PROD, 2, 0, 6, 6) == CCO_DIFFER, "zero");
    CHECK(doubles(CCO_LOOP_PROD, 3, 0, 6, 1100) == CCO_UNJUDGED, "underflow");
}

static void extremes(void)
{
    CHECK(doubles(CCO_LOOP_MAX, 4, -0.0, 0, 0) == CCO_SAME, "zeros");
    CHECK(doubles(CCO_LOOP_MAX, 4, 1, 1 + DBL_EPSILON, 0) == CCO_DIFFER, "exact");
    CHECK(doubles(CCO_LOOP_MAX, 4, 1, NAN, 1) == CCO_UNJUDGED, "one is a NaN");
}

static void other_types(void)
{
    const float a = 1, b = 1 + 2 * FLT_EPSILON;
    const double complex c = 1 + 2 * I, d = 1 + 2.5 * I;
    const int i = 3, k = 4;
    struct {
        double value;
        int index;
    } here = {0.0, 1}, there = {-0.0, 1}, other = {0.0, 2};
    cco_numbers n = of(CCO_R32, sizeof a, CCO_LOOP_SUM, 2);
    CHECK(cco_numbers_judge(&n, &a, &b, 1) == CCO_SAME, "float");
    n = of(CCO_C64, sizeof c, CCO_LOOP_SUM, 2);
    CHECK(cco_numbers_judge(&n, &c, &d, 3) == CCO_DIFFER, "complex");
    n = of(CCO_C64, sizeof c, CCO_LOOP_PROD, 2);
    CHECK(cco_numbers_judge(&n, &c, &d, 3) == CCO_DIFFER, "complex product");
    n = of(CCO_I32, sizeof i, CCO_LOOP_SUM, 2);
    CHECK(cco_numbers_judge(&n, &i, &k, 0) == CCO_DIFFER, "int");
    n = of(CCO_DOUBLE_INT, sizeof(double) + sizeof(int), CCO_LOOP_MAXLOC, 2);
    CHECK(cco_numbers_judge(&n, &here, &there, 0) == CCO_SAME, "pairs");
    CHECK(cco_numbers_judge(&n, &here, &other, 0) == CCO_DIFFER, "another index");
    n = of(CCO_NUMBERS, sizeof i, CCO_LOOPS, 2);
    CHECK(cco_numbers_judge(&n, &i, &k, 0) == CCO_UNJUDGED, "an operation that may round");
    n.integers = true;
    CHECK(cco_numbers_judge(&n, &i, &k, 0) == CCO_DIFFER, "one that cannot");
}

/* The first of each size, and a share of the others; the same for the same seed. */
static void which_calls(void)
{
    enum { CALLS = 100000 };
    cco_sample a = {.seed = 5}, b = {.seed = 5}, c = {.seed = 6};
    int taken = 0, together = 0;
    for (int i = 0; i < CALLS; i++) {
        const bool here = cco_sample_takes(&a, CCO_BCAST, 8, 0.01);
        CHECK(here == cco_sample_takes(&b, CCO_BCAST, 8, 0.01), "call %d", i);
        CHECK(here || i > 0, "the first one");
        taken += here;
        together += here && cco_sample_takes(&c, CCO_BCAST, 8, 0.01);
    }
    CHECK(taken > CALLS / 125 && taken < CALLS / 80, "%d", taken);
    CHECK(together < taken / 5, "%d: another seed is another sample", together);
    CHECK(cco_sample_takes(&a, CCO_BCAST, 16, 0), "a new size");
    CHECK(!cco_sample_takes(&a, CCO_BCAST, 31, 0), "of the same class");
    CHECK(cco_sample_takes(&a, CCO_REDUCE, 16, 0), "a new collective");
}

int main(void)
{
    sums();
    products();
    extremes();
    other_types();
    which_calls();
    return testing_end("test_validate_numbers");
}
