/* SPDX-License-Identifier: BSD-3-Clause */
/* crossings.c - see crossings.h. */
#include "transport/shm/crossings.h"

static void crossings_count(cco_crossings *c, const cco_core_place *a, const cco_core_place *b)
{
    c->lines++;
    c->caches += a->cache != b->cache;
    c->memories += a->memory != b->memory;
}

static int leader_of(const cco_groups *g, int group, int ranks)
{
    for (int rank = 0; rank < ranks; rank++)
        if (g->group[rank] == group && g->member[rank] == 0)
            return rank;
    return 0;
}

/* Members and leader read a line of each other; leaders one of each other leader. */
cco_crossings cco_crossings_levels(const cco_groups *g, const cco_core_place *places, int ranks)
{
    cco_crossings c = {0, 0, 0};
    int leaders[CCO_GROUPS_MOST];
    for (int i = 0; i < g->count; i++)
        leaders[i] = leader_of(g, i, ranks);
    for (int rank = 0; rank < ranks; rank++)
        if (g->member[rank] != 0) {
            crossings_count(&c, &places[rank], &places[leaders[g->group[rank]]]);
            crossings_count(&c, &places[leaders[g->group[rank]]], &places[rank]);
        }
    for (int i = 0; i < g->count; i++)
        for (int k = 0; k < g->count; k++)
            if (i != k)
                crossings_count(&c, &places[leaders[i]], &places[leaders[k]]);
    return c;
}

cco_crossings cco_crossings_flat(const cco_core_place *places, int ranks)
{
    cco_crossings c = {0, 0, 0};
    for (int i = 0; i < ranks; i++)
        for (int k = 0; k < ranks; k++)
            if (i != k)
                crossings_count(&c, &places[i], &places[k]);
    return c;
}
