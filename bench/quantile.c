/* SPDX-License-Identifier: BSD-3-Clause */
/* quantile.c - see quantile.h. */
#include "quantile.h"

#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_quantile(double *values, int n, double at)
{
    if (n == 0)
        return 0;
    qsort(values, (size_t)n, sizeof *values, compare);
    const double pos = at * (n - 1);
    const int low = (int)pos, high = low + 1 < n ? low + 1 : low;
    return values[low] + (pos - low) * (values[high] - values[low]);
}
