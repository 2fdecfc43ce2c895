/* SPDX-License-Identifier: BSD-3-Clause */
/* region.h - memory of the program that the ranks of a communicator share: what lies there need not
 * be copied for others to read it. */
#ifndef CCO_REGION_H
#define CCO_REGION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CCO_REGIONS = 64 }; /* of a communicator */

/* Their numbers are the same on all ranks, which map them at different addresses. */
typedef struct cco_regions {
    struct {
        char *memory; /* of rank 0, with the share of each rank behind that of the one before; NULL:
                         there is none with this number */
        size_t share;
    } list[CCO_REGIONS];
    int count; /* numbers in use lie below this */
} cco_regions;

/* True if `n` bytes at `at` lie in the share of `rank`. */
static inline bool cco_region_holds(const cco_regions *r, int i, int rank, const char *at, size_t n)
{
    const size_t share = r->list[i].share;
    const uintptr_t start = (uintptr_t)r->list[i].memory + (uintptr_t)rank * share;
    const uintptr_t place = (uintptr_t)at - start;
    return r->list[i].memory != NULL && (uintptr_t)at >= start && place <= share &&
           n <= share - place;
}

#endif
