/* SPDX-License-Identifier: BSD-3-Clause */
/* groups.c - see groups.h. */
#include "transport/shm/groups.h"

#include <stdlib.h>

typedef enum level { CACHE, MEMORY, NUMBERS } level;

static int32_t key_of(const cco_core_place *place, level by)
{
    return by == CACHE ? place->cache : by == MEMORY ? place->memory : 0;
}

static bool shm_groups_known(const cco_core_place *places, int ranks, level by)
{
    for (int i = 0; i < ranks; i++)
        if (key_of(&places[i], by) < 0)
            return false;
    return true;
}

/* Gives the ranks of one key, which are `n`, to groups from number `first` on, whose sizes differ
 * by at most one; returns how many. */
static int shm_groups_cut(cco_groups *g, const cco_core_place *places, int ranks, level by,
                          int32_t key, int n, int first, int most)
{
    const int parts = (n + most - 1) / most;
    for (int rank = 0, i = 0; rank < ranks; rank++)
        if (key_of(&places[rank], by) == key)
            g->group[rank] = first + (int)((long)i++ * parts / n);
    return parts;
}

/* Puts ranks into groups; false if they come to too many. */
static bool shm_groups_divide(cco_groups *g, const cco_core_place *places, int ranks, level by,
                              int most)
{
    g->count = 0;
    for (int rank = 0; rank < ranks; rank++)
        g->group[rank] = -1;
    for (int rank = 0; rank < ranks; rank++) {
        const int32_t key = key_of(&places[rank], by);
        int n = 0;
        if (g->group[rank] >= 0)
            continue;
        for (int i = rank; i < ranks; i++)
            n += key_of(&places[i], by) == key;
        g->count += shm_groups_cut(g, places, ranks, by, key, n, g->count, most);
    }
    return g->count <= CCO_GROUPS_MOST;
}

/* Numbers the members. */
static void count_members(cco_groups *g, int ranks)
{
    int before = 0;
    g->most = 0;
    g->in_order = true;
    for (int rank = 0; rank < ranks; rank++) {
        const int group = g->group[rank];
        g->member[rank] = g->members[group]++;
        g->most = g->members[group] > g->most ? g->members[group] : g->most;
        g->in_order = g->in_order && group >= before;
        before = group;
    }
}

bool cco_groups_make(cco_groups *g, const cco_core_place *places, int ranks)
{
    const size_t n = (size_t)ranks;
    *g = (cco_groups){.group = malloc(n * sizeof *g->group),
                      .member = malloc(n * sizeof *g->member),
                      .members = calloc(n, sizeof *g->members)};
    if (g->group == NULL || g->member == NULL || g->members == NULL) {
        cco_groups_free(g);
        return false;
    }
    level by = CACHE;
    while (by < NUMBERS && !(shm_groups_known(places, ranks, by) &&
                             shm_groups_divide(g, places, ranks, by, CCO_GROUP_RANKS)))
        by++;
    const bool divided = by < NUMBERS || shm_groups_divide(g, places, ranks, by, CCO_GROUP_RANKS) ||
                         shm_groups_divide(g, places, ranks, by, CCO_GROUPS_MOST);
    if (divided)
        count_members(g, ranks);
    else
        g->count = 0;
    return true;
}

void cco_groups_free(cco_groups *g)
{
    free(g->group);
    free(g->member);
    free(g->members);
    *g = (cco_groups){0};
}
