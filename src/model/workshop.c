/* SPDX-License-Identifier: BSD-3-Clause */
/* workshop.c - memory that lasts from call to call; see frame.h. */
#include <stdlib.h>

#include "model/frame.h"

enum {
    LARGE = 4 << 20, /* bytes: more is not kept, there may be many communicators */
    ALIGNMENT = 64,
};

char *cco_workshop_room(cco_workshop *shop, cco_base base, size_t n)
{
    if (shop->room[base] >= n && shop->memory[base] != NULL)
        return shop->memory[base];
    free(shop->memory[base]);
    shop->room[base] = (n / ALIGNMENT + 1) * ALIGNMENT;
    shop->memory[base] = aligned_alloc(ALIGNMENT, shop->room[base]);
    if (shop->memory[base] == NULL)
        shop->room[base] = 0;
    return shop->memory[base];
}

size_t cco_workshop_bytes(const cco_workshop *shop)
{
    size_t bytes = 0;
    for (int base = 0; base < CCO_BASES; base++)
        bytes += shop->room[base];
    return bytes;
}

static void drop(cco_workshop *shop, size_t beyond)
{
    for (int base = 0; base < CCO_BASES; base++)
        if (shop->room[base] > beyond) {
            free(shop->memory[base]);
            shop->memory[base] = NULL;
            shop->room[base] = 0;
        }
}

void cco_workshop_trim(cco_workshop *shop)
{
    drop(shop, LARGE);
}

void cco_workshop_empty(cco_workshop *shop)
{
    drop(shop, 0);
    free(shop->n);
    shop->n = NULL;
}
