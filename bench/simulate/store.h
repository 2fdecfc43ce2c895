/* SPDX-License-Identifier: BSD-3-Clause */
/* store.h - lists of what is kept small: 16 bytes each, in pieces that all lists share, so that no
 * list is ever moved to grow. */
#ifndef SIMULATE_STORE_H
#define SIMULATE_STORE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct item {
    double time;
    uint64_t what;
} item;

enum { PIECE_ITEMS = 31 };

/* As large as whole lines of the caches. */
typedef struct piece {
    struct piece *next;
    uint32_t count;
    item items[PIECE_ITEMS];
} piece;

typedef struct item_list {
    piece *first, *last; /* `last` only if there is a first */
} item_list;

typedef struct store {
    piece *unused;
    struct store_block *blocks; /* all memory */
} store;

/* Adds to the end of a list.  False when memory runs out. */
bool store_add(store *s, item_list *list, item one);

/* Empties a list; others use its pieces. */
void store_drop(store *s, item_list *list);

void store_free(store *s);

#endif
