/* SPDX-License-Identifier: BSD-3-Clause */
/* aside.h - messages that are there, kept small: 16 bytes instead of the 100 and more that one
 * takes with what finds it (stage.h, match.h).
 *
 * Where each rank sends to thousands of others before it receives, nearly all messages are there
 * before anybody waits for them, and then all ranks wait for the last ones of each other.  Those
 * that no receive has met lie in the order of arrival, by receiver, until it comes to its receives
 * and makes a table of them.  Those that it has met are no more than a time and what they take of
 * the processor. */
#ifndef SIMULATE_ASIDE_H
#define SIMULATE_ASIDE_H

#include <stddef.h>
#include <string.h>

#include "store.h"

typedef struct aside {
    store store;
    uint32_t ranks;
    item_list *early;            /* of each rank: no receive has met them */
    struct early_table **tables; /* likewise, and older; NULL: never any of both */
    item_list *arrived;          /* of its round, met; NULL: never any */
    uint64_t moved, taken;       /* into tables, by receives */
    bool no_memory;              /* sticks */
} aside;

void aside_begin(aside *a, uint32_t ranks);
void aside_free(aside *a);

/* A message is there, and no receive has met it. */
void aside_add(aside *a, uint32_t to, uint32_t from, double time, uint32_t bytes);

/* Takes the first one between two ranks; false if there is none. */
bool aside_take(aside *a, uint32_t to, uint32_t from, item *found);

/* A message is there that a receive has met. */
void aside_add_arrived(aside *a, uint32_t to, double time, double cost);

/* How many of these a rank has. */
size_t aside_count_arrived(const aside *a, uint32_t r);
void aside_drop_arrived(aside *a, uint32_t r);

static inline bool aside_has(const aside *a, uint32_t r)
{
    return a->tables != NULL && (a->tables[r] != NULL || a->early[r].first != NULL);
}

static inline bool aside_has_arrived(const aside *a, uint32_t r)
{
    return a->arrived != NULL && a->arrived[r].first != NULL;
}

/* False where ranks make tables again and again, to take little of each. */
static inline bool aside_pays(const aside *a)
{
    enum { OFTEN = 8, ENOUGH = 1 << 16 };
    return a->moved <= OFTEN * a->taken + ENOUGH;
}

/* The bytes of one that no receive has met. */
static inline double item_bytes(const item *one)
{
    return (double)(uint32_t)one->what;
}

/* The cost of one that a receive has met. */
static inline double item_cost(const item *one)
{
    double cost;
    memcpy(&cost, &one->what, sizeof cost);
    return cost;
}

#endif
