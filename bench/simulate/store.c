/* SPDX-License-Identifier: BSD-3-Clause */
/* store.c - see store.h. */
#include "store.h"

#include <stdlib.h>

/* Small enough for malloc to find room for it in memory that was freed, such as that of the graph
 * from which programs were made. */
enum { BLOCK_PIECES = 127 };

typedef struct store_block {
    struct store_block *next;
    piece pieces[BLOCK_PIECES];
} store_block;

static bool add_block(store *s)
{
    store_block *block = malloc(sizeof *block);
    if (block == NULL)
        return false;
    block->next = s->blocks;
    s->blocks = block;
    for (int i = 0; i < BLOCK_PIECES; i++) {
        block->pieces[i].next = s->unused;
        s->unused = &block->pieces[i];
    }
    return true;
}

bool store_add(store *s, item_list *list, item one)
{
    piece *p = list->first != NULL ? list->last : NULL;
    if (p == NULL || p->count == PIECE_ITEMS) {
        if (s->unused == NULL && !add_block(s))
            return false;
        piece *added = s->unused;
        s->unused = added->next;
        added->next = NULL;
        added->count = 0;
        if (p == NULL)
            list->first = added;
        else
            p->next = added;
        list->last = p = added;
    }
    p->items[p->count++] = one;
    return true;
}

void store_drop(store *s, item_list *list)
{
    if (list->first == NULL)
        return;
    list->last->next = s->unused;
    s->unused = list->first;
    list->first = NULL;
}

void store_free(store *s)
{
    while (s->blocks != NULL) {
        store_block *next = s->blocks->next;
        free(s->blocks);
        s->blocks = next;
    }
    s->unused = NULL;
}
