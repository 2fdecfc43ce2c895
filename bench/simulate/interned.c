/* SPDX-License-Identifier: BSD-3-Clause */
/* interned.c - see interned.h. */
#include "interned.h"

#include <stdlib.h>
#include <string.h>

#include "pages.h"

static uint32_t hash_of(const uint32_t *words, uint32_t count)
{
    uint64_t hash = 0x9e3779b97f4a7c15u + count;
    for (uint32_t i = 0; i < count; i++)
        hash = ((hash ^ words[i]) * 0xff51afd7ed558ccdu) ^ hash >> 32;
    return (uint32_t)(hash ^ hash >> 32);
}

/* The place in the table of an equal list, or an empty one. */
static uint32_t *look_up(const interned *all, const uint32_t *words, uint32_t count, uint32_t hash)
{
    uint32_t i = hash & (all->slots - 1);
    for (; all->table[i] != 0; i = (i + 1) & (all->slots - 1)) {
        const interned_list *list = &all->lists[all->table[i] - 1];
        if (list->hash == hash && list->count == count &&
            memcmp(all->words + list->first, words, count * sizeof *words) == 0)
            break;
    }
    return &all->table[i];
}

static bool grow_table(interned *all)
{
    const uint32_t slots = all->slots == 0 ? 1024 : 2 * all->slots;
    uint32_t *table = calloc(slots, sizeof *table);
    if (table == NULL)
        return false;
    for (uint32_t k = 0; k < all->count; k++) {
        uint32_t i = all->lists[k].hash & (slots - 1);
        while (table[i] != 0)
            i = (i + 1) & (slots - 1);
        table[i] = k + 1;
    }
    free(all->table);
    all->table = table;
    all->slots = slots;
    return true;
}

static bool make_room(interned *all, uint32_t count)
{
    if (2 * (all->count + 1) > all->slots && !grow_table(all))
        return false;
    if (all->count == all->lists_room) {
        const uint32_t room = all->lists_room == 0 ? 256 : 2 * all->lists_room;
        interned_list *lists = pages_resize(all->lists, room, sizeof *lists);
        if (lists == NULL)
            return false;
        all->lists = lists;
        all->lists_room = room;
    }
    if (all->used + count > all->room) {
        const size_t room = 3 * (all->used + count) / 2 + 1024;
        uint32_t *words = pages_resize(all->words, room, sizeof *words);
        if (words == NULL)
            return false;
        all->words = words;
        all->room = room;
    }
    return true;
}

uint32_t interned_find(const interned *all, const uint32_t *words, uint32_t count)
{
    if (all->slots == 0)
        return NOT_INTERNED;
    return *look_up(all, words, count, hash_of(words, count)) - 1; /* 0 - 1 is NOT_INTERNED */
}

uint32_t interned_keep(interned *all, const uint32_t *words, uint32_t count)
{
    const uint32_t hash = hash_of(words, count);
    if (!make_room(all, count))
        return NOT_INTERNED;
    uint32_t *place = look_up(all, words, count, hash);
    if (*place != 0)
        return *place - 1;
    memcpy(all->words + all->used, words, count * sizeof *words);
    all->lists[all->count] = (interned_list){all->used, count, hash};
    all->used += count;
    *place = ++all->count;
    return all->count - 1;
}

void interned_fit(interned *all)
{
    uint32_t *words = all->used > 0 ? pages_resize(all->words, all->used, sizeof *words) : NULL;
    if (words != NULL) {
        all->words = words;
        all->room = all->used;
    }
}

void interned_free(interned *all)
{
    free(all->words);
    free(all->lists);
    free(all->table);
    *all = (interned){.count = 0};
}
