/* SPDX-License-Identifier: BSD-3-Clause */
/* ranges.c - see ranges.h. */
#include "record/ranges.h"

#include <stdlib.h>

bool cco_ranges_add(cco_ranges *ranges, uintptr_t low, uintptr_t high)
{
    if (low >= high)
        return true;
    if (ranges->count == ranges->room) {
        const int room = ranges->room > 0 ? 2 * ranges->room : 4;
        cco_range *larger = realloc(ranges->list, (size_t)room * sizeof *larger);
        if (larger == NULL)
            return false;
        ranges->list = larger;
        ranges->room = room;
    }
    ranges->list[ranges->count++] = (cco_range){low, high};
    return true;
}

static int ranges_compare(const void *a, const void *b)
{
    const cco_range *x = a, *y = b;
    return (x->low > y->low) - (x->low < y->low);
}

void cco_ranges_settle(cco_ranges *ranges)
{
    int count = 0;
    if (ranges->count > 1)
        qsort(ranges->list, (size_t)ranges->count, sizeof *ranges->list, ranges_compare);
    for (int i = 0; i < ranges->count; i++) {
        cco_range *last = count > 0 ? &ranges->list[count - 1] : NULL;
        const cco_range here = ranges->list[i];
        if (last == NULL || last->high < here.low)
            ranges->list[count++] = here;
        else if (last->high < here.high)
            last->high = here.high;
    }
    ranges->count = count;
}

static bool ranges_meet(const cco_ranges *a, const cco_ranges *b)
{
    for (int i = 0, k = 0; i < a->count && k < b->count;) {
        if (a->list[i].high <= b->list[k].low)
            i++;
        else if (b->list[k].high <= a->list[i].low)
            k++;
        else
            return true;
    }
    return false;
}

bool cco_touched_depend(const cco_touched *a, const cco_touched *b)
{
    return ranges_meet(&a->written, &b->read) || ranges_meet(&a->read, &b->written) ||
           ranges_meet(&a->written, &b->written);
}

void cco_touched_free(cco_touched *touched)
{
    free(touched->read.list);
    free(touched->written.list);
    *touched = (cco_touched){.read = {NULL, 0, 0}};
}
