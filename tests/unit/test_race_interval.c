/* SPDX-License-Identifier: BSD-3-Clause */
/* test_race_interval.c - quantiles against printed tables, and intervals that hold as often as they
 * say. */
#include <math.h>

#include "race/interval.h"
#include "race/sequence.h"
#include "testing/testing.h"

/* Student's t, as in any table. */
static const struct {
    double tail, freedom, t;
} known[] = {{.025, 1, 12.7062},   {.025, 2, 4.30265},   {.025, 3, 3.18245},  {.025, 10, 2.22814},
             {.025, 30, 2.04227},  {.005, 5, 4.03214},   {.0005, 7, 5.40788}, {.05, 60, 1.67065},
             {.025, 120, 1.97993}, {.005, 120, 2.61742}, {.025, 1e9, 1.95996}};

static double chance(uint64_t *state)
{
    *state = cco_mix(*state, 7);
    return (double)(*state >> 11) / (double)(1ull << 53);
}

/* Nearly normal, with an outlier in twenty. */
static double noise(uint64_t *state)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += chance(state);
    return chance(state) < 0.05 ? 20 * sum : sum;
}

/* How many of 2000 intervals of `n` values around 3 miss it. */
static int missed(int n, double trim, double error)
{
    enum { TIMES = 2000 };
    double values[64];
    uint64_t state = 99;
    int count = 0;
    for (int k = 0; k < TIMES; k++) {
        for (int i = 0; i < n; i++)
            values[i] = 3 + noise(&state);
        const cco_interval found = cco_interval_of(values, n, trim, error);
        count += found.low > 3 || found.high < 3;
    }
    return count;
}

int main(void)
{
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const double t = cco_t_quantile(known[i].tail, known[i].freedom);
        CHECK(fabs(t - known[i].t) < 2e-4, "t of %g, %g: %g", known[i].tail, known[i].freedom, t);
    }
    double few[] = {5, 1, 3, 100, 2};
    cco_interval found = cco_interval_of(few, 5, 0.2, 0.05);
    CHECK(fabs(found.center - 10. / 3) < 1e-12, "trimmed mean %g", found.center);
    CHECK(few[0] == 1 && few[4] == 100, "sorted");
    CHECK(isinf(cco_interval_of(few, 1, 0.2, 0.05).high), "one value says nothing");
    for (int n = 8; n <= 64; n *= 2) {
        const int bad = missed(n, 0.2, 0.05);
        CHECK(bad > 20 && bad < 160, "%d of 2000 trimmed intervals of %d values miss", bad, n);
    }
    return testing_end("race_interval");
}
