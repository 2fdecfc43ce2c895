/* SPDX-License-Identifier: BSD-3-Clause */
/* interval.c - see interval.h. */
#include "race/interval.h"

#include <math.h>
#include <stdlib.h>

/* The standard normal quantile, good to 4.5e-4 (Abramowitz and Stegun 1964, 26.2.23), and two
 * steps of Newton with the error function, which make it exact. */
static double normal_quantile(double tail)
{
    const double t = sqrt(-2 * log(tail));
    double z = t - (2.515517 + t * (0.802853 + t * 0.010328)) /
                       (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
    for (int i = 0; i < 2; i++)
        z += (0.5 * erfc(z / M_SQRT2) - tail) / (exp(-z * z / 2) / sqrt(2 * M_PI));
    return z;
}

/* The probability that Student's t exceeds `x` > 0: a finite series for whole `freedom` (Abramowitz
 * and Stegun, 26.7.3 and 26.7.4). */
static double t_tail(double x, int freedom)
{
    const double theta = atan2(x, sqrt((double)freedom));
    const double c = cos(theta), s = sin(theta);
    double term = freedom % 2 ? c : 1, sum = freedom == 1 ? 0 : term;
    for (int k = freedom % 2 ? 3 : 2; k < freedom; k += 2)
        sum += term *= c * c * (k - 1) / k;
    const double inside = freedom % 2 ? (theta + s * sum) * M_2_PI : s * sum;
    return (1 - inside) / 2;
}

/* Up to MANY the tail is inverted by bisection; beyond, four terms of the expansion around the
 * normal quantile are exact enough (Abramowitz and Stegun, 26.7.5). */
double cco_t_quantile(double tail, double freedom)
{
    enum { MANY = 60, HALVINGS = 100 };
    const double z = normal_quantile(tail), z2 = z * z, f = 1 / freedom;
    if (freedom > MANY)
        return z * (1 + f * ((z2 + 1) / 4 + f * ((5 * z2 * z2 + 16 * z2 + 3) / 96)));
    double low = 0, high = 1;
    const int whole = freedom < 1 ? 1 : (int)freedom;
    while (t_tail(high, whole) > tail && high < 1e12)
        high *= 2;
    for (int i = 0; i < HALVINGS; i++) {
        const double middle = (low + high) / 2;
        *(t_tail(middle, whole) > tail ? &low : &high) = middle;
    }
    return high;
}

static int interval_ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Values beyond the cuts count as the last ones inside. */
static double winsorized_variance(const double *sorted, int n, int cut)
{
    double sum = 0, squares = 0;
    for (int i = 0; i < n; i++)
        sum += sorted[i < cut ? cut : i >= n - cut ? n - cut - 1 : i];
    for (int i = 0; i < n; i++) {
        const double d = sorted[i < cut ? cut : i >= n - cut ? n - cut - 1 : i] - sum / n;
        squares += d * d;
    }
    return squares / (n - 1);
}

cco_interval cco_interval_of(double *values, int n, double trim, double error)
{
    const int cut = (int)(trim * n), left = n - 2 * cut;
    cco_interval interval = {0, -INFINITY, INFINITY};
    qsort(values, n > 0 ? (size_t)n : 0, sizeof *values, interval_ascending);
    for (int i = cut; i < n - cut; i++)
        interval.center += values[i] / left;
    if (left < 2)
        return interval;
    const double variance = winsorized_variance(values, n, cut) * (n - 1) / (left - 1.0) / left;
    const double half = cco_t_quantile(error / 2, left - 1) * sqrt(variance);
    interval.low = interval.center - half;
    interval.high = interval.center + half;
    return interval;
}
