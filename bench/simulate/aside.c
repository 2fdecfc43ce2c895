/* SPDX-License-Identifier: BSD-3-Clause */
/* aside.c - see aside.h. */
#include "aside.h"

#include <stdlib.h>

/* Those of one sender, and others with the same slot, are a list in their order. */
typedef struct early_table {
    size_t count, left; /* `left` are not taken */
    size_t slots;
    uint32_t *first, *next; /* numbers of items, END behind the last one */
    item items[];
} early_table;

enum { END = UINT32_MAX };

static const uint64_t taken = UINT64_MAX; /* no rank has so large a number */

void aside_begin(aside *a, uint32_t ranks)
{
    *a = (aside){.ranks = ranks};
}

void aside_free(aside *a)
{
    for (uint32_t r = 0; a->tables != NULL && r < a->ranks; r++)
        free(a->tables[r]);
    free(a->tables);
    free(a->early);
    free(a->arrived);
    store_free(&a->store);
    aside_begin(a, 0);
}

static size_t count_of(const item_list *list)
{
    size_t count = 0;
    for (const piece *p = list->first; p != NULL; p = p->next)
        count += p->count;
    return count;
}

static early_table *new_table(size_t count)
{
    size_t slots = 16;
    while (slots < count)
        slots *= 2;
    early_table *t = malloc(sizeof *t + count * sizeof(item) + (slots + count) * sizeof(uint32_t));
    if (t == NULL || count >= END) {
        free(t);
        return NULL;
    }
    *t = (early_table){.slots = slots};
    t->first = (uint32_t *)(t->items + count);
    t->next = t->first + slots;
    return t;
}

static uint32_t *slot_of(const early_table *t, uint32_t from)
{
    return &t->first[(uint32_t)(from * 0x9e3779b97f4a7c15u >> 32) & (t->slots - 1)];
}

/* The last one first, each to the begin of its list. */
static void link_items(early_table *t)
{
    for (size_t i = 0; i < t->slots; i++)
        t->first[i] = END;
    for (size_t i = t->count; i > 0; i--) {
        uint32_t *slot = slot_of(t, (uint32_t)(t->items[i - 1].what >> 32));
        t->next[i - 1] = *slot;
        *slot = (uint32_t)i - 1;
    }
    t->left = t->count;
}

/* Makes a table of what is left in that of a rank, and of what has come since. */
static bool gather(aside *a, uint32_t r)
{
    early_table *old = a->tables[r];
    early_table *t = new_table((old != NULL ? old->left : 0) + count_of(&a->early[r]));
    a->no_memory = a->no_memory || t == NULL;
    if (t == NULL)
        return false;
    for (size_t i = 0; old != NULL && i < old->count; i++)
        if (old->items[i].what != taken)
            t->items[t->count++] = old->items[i];
    for (const piece *p = a->early[r].first; p != NULL; p = p->next) {
        memcpy(t->items + t->count, p->items, p->count * sizeof *p->items);
        t->count += p->count;
    }
    store_drop(&a->store, &a->early[r]);
    free(old);
    link_items(t);
    a->tables[r] = t;
    a->moved += t->count;
    return true;
}

static bool take(early_table *t, uint32_t from, item *found)
{
    for (uint32_t *at = slot_of(t, from); *at != END; at = &t->next[*at]) {
        item *one = &t->items[*at];
        if (one->what >> 32 != from)
            continue;
        *found = *one;
        one->what = taken;
        *at = t->next[*at];
        t->left--;
        return true;
    }
    return false;
}

bool aside_take(aside *a, uint32_t to, uint32_t from, item *found)
{
    early_table **t = &a->tables[to];
    if ((*t == NULL || !take(*t, from, found)) &&
        (a->early[to].first == NULL || !gather(a, to) || !take(*t, from, found)))
        return false;
    a->taken++;
    if ((*t)->left == 0) {
        free(*t);
        *t = NULL;
    }
    return true;
}

void aside_add(aside *a, uint32_t to, uint32_t from, double time, uint32_t bytes)
{
    if (a->early == NULL)
        a->early = calloc(a->ranks, sizeof *a->early);
    if (a->early != NULL && a->tables == NULL)
        a->tables = calloc(a->ranks, sizeof *a->tables);
    const item one = {time, (uint64_t)from << 32 | bytes};
    if (a->tables == NULL || !store_add(&a->store, &a->early[to], one))
        a->no_memory = true;
}

void aside_add_arrived(aside *a, uint32_t to, double time, double cost)
{
    item one = {.time = time};
    memcpy(&one.what, &cost, sizeof cost);
    if (a->arrived == NULL)
        a->arrived = calloc(a->ranks, sizeof *a->arrived);
    if (a->arrived == NULL || !store_add(&a->store, &a->arrived[to], one))
        a->no_memory = true;
}

size_t aside_count_arrived(const aside *a, uint32_t r)
{
    return a->arrived != NULL ? count_of(&a->arrived[r]) : 0;
}

void aside_drop_arrived(aside *a, uint32_t r)
{
    store_drop(&a->store, &a->arrived[r]);
}
