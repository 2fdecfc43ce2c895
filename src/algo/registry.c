/* SPDX-License-Identifier: BSD-3-Clause */
/* registry.c - the algorithms of registry.def and node_algos.def. */
#include "algo/registry.h"

#include <string.h>

typedef struct entry {
    cco_coll coll;
    const cco_algo *algo;
} entry;

#define CCO_ALGO(COLL, folder, name) {CCO_##COLL, &cco_##folder##_##name},
static const entry flat[] = {
#include "algo/registry.def"
};
static const entry by_nodes[] = {
#include "algo/node_algos.def"
};
#undef CCO_ALGO

/* The `*i`th of a collective in a list; if there are fewer, `*i` is what is left to count. */
static const cco_algo *algo_registry_find(const entry *entries, size_t count, cco_coll coll, int *i)
{
    for (size_t k = 0; k < count; k++)
        if (entries[k].coll == coll && (*i)-- == 0)
            return entries[k].algo;
    return NULL;
}

const cco_algo *cco_algo_of(cco_coll coll, int i)
{
    return algo_registry_find(flat, sizeof flat / sizeof flat[0], coll, &i);
}

const cco_algo *cco_node_algo_of(cco_coll coll, int i)
{
    const cco_algo *algo = algo_registry_find(by_nodes, sizeof by_nodes / sizeof by_nodes[0], coll,
                                              &i);
    return algo != NULL ? algo : cco_algo_of(coll, i);
}

const cco_algo *cco_algo_named(cco_coll coll, const char *name, size_t length)
{
    const cco_algo *algo;
    for (int i = 0; (algo = cco_algo_of(coll, i)) != NULL; i++)
        if (strlen(algo->name) == length && strncmp(algo->name, name, length) == 0)
            break;
    return algo;
}

bool cco_algo_shares(const cco_algo *algo, cco_coll coll)
{
    const int properties = cco_coll_infos[coll].properties;
    const bool known = !(properties & CCO_ROOTED) && properties & (CCO_GATHERS | CCO_REDUCTION);
    return algo->shares_counts && (cco_is_neighbor(coll) || (properties & CCO_COUNTS && !known));
}
