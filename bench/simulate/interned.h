/* SPDX-License-Identifier: BSD-3-Clause */
/* interned.h - lists of numbers, each kept once: equal ones have the same number. */
#ifndef SIMULATE_INTERNED_H
#define SIMULATE_INTERNED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct interned_list {
    size_t first; /* of its words */
    uint32_t count;
    uint32_t hash;
} interned_list;

typedef struct interned {
    uint32_t *words; /* of all lists */
    size_t used, room;
    interned_list *lists;
    uint32_t count, lists_room;
    uint32_t *table; /* by hash: numbers of lists + 1 */
    uint32_t slots;
} interned;

enum { NOT_INTERNED = UINT32_MAX };

/* The number of an equal list, NOT_INTERNED if there is none. */
uint32_t interned_find(const interned *all, const uint32_t *words, uint32_t count);

/* The number of an equal list, which is kept if it is new; NOT_INTERNED without memory. */
uint32_t interned_keep(interned *all, const uint32_t *words, uint32_t count);

/* Gives memory back that is not used. */
void interned_fit(interned *all);

void interned_free(interned *all);

#endif
