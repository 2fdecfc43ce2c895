/* SPDX-License-Identifier: BSD-3-Clause */
/* ranges.h - which memory of this process a call reads, and which it writes: whether two calls
 * depend on each other, or could run side by side. */
#ifndef CCO_RANGES_H
#define CCO_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Memory from `low` up to `high`. */
typedef struct cco_range {
    uintptr_t low, high;
} cco_range;

/* Zero to begin with. */
typedef struct cco_ranges {
    cco_range *list;
    int count, room;
} cco_ranges;

typedef struct cco_touched {
    cco_ranges read, written;
} cco_touched;

/* Adds some memory; an empty range adds nothing.  False when memory runs out. */
bool cco_ranges_add(cco_ranges *ranges, uintptr_t low, uintptr_t high);

/* Sorts them and joins those that meet; before cco_touched_depend. */
void cco_ranges_settle(cco_ranges *ranges);

/* True if one of two calls writes what the other reads or writes. */
bool cco_touched_depend(const cco_touched *a, const cco_touched *b);

void cco_touched_free(cco_touched *touched);

#endif
