/* SPDX-License-Identifier: BSD-3-Clause */
/* crossings.h - how many cache lines a small call moves, and how far: what groups are made for. */
#ifndef CCO_CROSSINGS_H
#define CCO_CROSSINGS_H

#include "transport/shm/groups.h"

/* Lines that a rank reads and another has written; of these, those that go to another cache, and of
 * these, those that go to another memory.  Without places, all seem to stay. */
typedef struct cco_crossings {
    long lines, caches, memories;
} cco_crossings;

/* The crossings of an allreduce of some bytes over two levels (levels.h). */
cco_crossings cco_crossings_levels(const cco_groups *groups, const cco_core_place *places,
                                   int ranks);

/* Its crossings where every rank reads what each other shows (flat.h). */
cco_crossings cco_crossings_flat(const cco_core_place *places, int ranks);

#endif
