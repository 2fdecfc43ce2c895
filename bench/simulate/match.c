/* SPDX-License-Identifier: BSD-3-Clause */
/* match.c - see match.h. */
#include "match.h"

#include <stdlib.h>
#include <string.h>

#include "pages.h"

static uint64_t pair_of(uint32_t to, uint32_t from)
{
    return ((uint64_t)to << 32 | from) + 1;
}

static uint32_t home(const matches *m, uint64_t pair)
{
    return (uint32_t)(pair * 0x9e3779b97f4a7c15u >> 32) & m->mask;
}

static match_slot *new_slots(uint32_t mask)
{
    match_slot *slots = pages_resize(NULL, (size_t)mask + 1, sizeof *slots);
    if (slots != NULL)
        memset(slots, 0, ((size_t)mask + 1) * sizeof *slots);
    return slots;
}

bool matches_begin(matches *m)
{
    *m = (matches){.mask = (1 << 12) - 1};
    m->slots = new_slots(m->mask);
    return m->slots != NULL;
}

void matches_free(matches *m)
{
    free(m->slots);
    *m = (matches){.slots = NULL};
}

static match_slot *find(const matches *m, uint64_t pair)
{
    uint32_t i = home(m, pair);
    while (m->slots[i].pair != pair && m->slots[i].pair != 0)
        i = (i + 1) & m->mask;
    return &m->slots[i];
}

static bool grow(matches *m)
{
    matches larger = {.mask = 2 * m->mask + 1, .used = m->used};
    larger.slots = new_slots(larger.mask);
    if (larger.slots == NULL)
        return false;
    for (uint32_t i = 0; i <= m->mask; i++)
        if (m->slots[i].pair != 0)
            *find(&larger, m->slots[i].pair) = m->slots[i];
    free(m->slots);
    *m = larger;
    return true;
}

/* The slot of a pair, an empty one made its own. */
static match_slot *slot_of(matches *m, uint64_t pair)
{
    match_slot *slot = find(m, pair);
    if (slot->pair != 0)
        return slot;
    if (2 * m->used > m->mask) {
        if (!grow(m)) {
            m->no_memory = true;
            return NULL;
        }
        slot = find(m, pair);
    }
    m->used++;
    *slot = (match_slot){pair, 0, NO_MESSAGE, NO_MESSAGE};
    return slot;
}

/* Empties a slot; those behind it that would not be found any more move up. */
static void take_out(matches *m, match_slot *slot)
{
    uint32_t hole = (uint32_t)(slot - m->slots), i = hole;
    m->used--;
    for (;;) {
        i = (i + 1) & m->mask;
        if (m->slots[i].pair == 0)
            break;
        const uint32_t far = (i - home(m, m->slots[i].pair)) & m->mask;
        if (far >= ((i - hole) & m->mask)) {
            m->slots[hole] = m->slots[i];
            hole = i;
        }
    }
    m->slots[hole].pair = 0;
}

static void take_first(matches *m, match_slot *slot, const uint32_t *next)
{
    slot->first = slot->first == slot->last ? NO_MESSAGE : next[slot->first];
    if (slot->first == NO_MESSAGE)
        take_out(m, slot);
}

uint32_t match_receive(matches *m, uint32_t to, uint32_t from, const uint32_t *next)
{
    match_slot *slot = slot_of(m, pair_of(to, from));
    if (slot == NULL)
        return NO_MESSAGE;
    const uint32_t message = slot->first;
    if (message == NO_MESSAGE) {
        slot->receives++;
    } else {
        take_first(m, slot, next);
    }
    return message;
}

bool match_message(matches *m, uint32_t to, uint32_t from, uint32_t message, uint32_t *next)
{
    match_slot *slot = slot_of(m, pair_of(to, from));
    if (slot == NULL)
        return true;
    if (slot->receives > 0) {
        if (--slot->receives == 0)
            take_out(m, slot);
        return true;
    }
    if (slot->first == NO_MESSAGE)
        slot->first = message;
    else
        next[slot->last] = message;
    slot->last = message;
    return false;
}

bool match_take_first(matches *m, uint32_t to, uint32_t from, uint32_t message,
                      const uint32_t *next)
{
    match_slot *slot = find(m, pair_of(to, from));
    if (slot->pair == 0 || slot->first != message)
        return false;
    take_first(m, slot, next);
    return true;
}
