/* SPDX-License-Identifier: BSD-3-Clause */
/* registry.c - the algorithms of registry.def. */
#include "algo/registry.h"

#include <string.h>

typedef struct entry {
    cco_coll coll;
    const cco_algo *algo;
} entry;

static const entry entries[] = {
#define CCO_ALGO(COLL, folder, name) {CCO_##COLL, &cco_##folder##_##name},
#include "algo/registry.def"
#undef CCO_ALGO
};

const cco_algo *cco_algo_of(cco_coll coll, int i)
{
    for (size_t k = 0; k < sizeof entries / sizeof entries[0]; k++)
        if (entries[k].coll == coll && i-- == 0)
            return entries[k].algo;
    return NULL;
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
    const int unknown = CCO_ROOTED | CCO_COUNTS; /* only the root knows all sizes */
    return algo->shares_counts && (cco_coll_infos[coll].properties & unknown) == unknown;
}
