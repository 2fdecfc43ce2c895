/* SPDX-License-Identifier: BSD-3-Clause */
/* failing.h - an allocation fails.  Programs with this are linked with malloc, calloc and realloc
 * wrapped. */
#ifndef FAILING_H
#define FAILING_H

#include <stdbool.h>

/* The allocation after the next `k` fails, and those after it do not. */
void failing_begin(long k);

/* No more does.  True if one has failed. */
bool failing_end(void);

#endif
