/* SPDX-License-Identifier: BSD-3-Clause */
/* own_lines.c - see own_lines.h. */
#include "base/own_lines.h"

#include <stdlib.h>
#include <string.h>

void *cco_own_lines(size_t bytes)
{
    const size_t whole = (bytes / CCO_OWN_LINES + 1) * CCO_OWN_LINES;
    void *memory = aligned_alloc(CCO_OWN_LINES, whole);
    return memory != NULL ? memset(memory, 0, whole) : NULL;
}
