/* SPDX-License-Identifier: BSD-3-Clause */
/* failing.c - see failing.h. */
#include "failing.h"

#include <stddef.h>

void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);

static bool on;
static long left; /* allocations until one fails */

static bool fails_now(void)
{
    return on && left-- == 0;
}

void failing_begin(long k)
{
    on = true;
    left = k;
}

bool failing_end(void)
{
    const bool failed = left < 0;
    on = false;
    return failed;
}

void *__wrap_malloc(size_t size)
{
    return fails_now() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails_now() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return fails_now() ? NULL : __real_realloc(old, size);
}
