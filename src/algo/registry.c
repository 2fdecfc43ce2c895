/* SPDX-License-Identifier: BSD-3-Clause */
/* registry.c - the algorithms of registry.def. */
#include "algo/algo.h"

typedef struct entry {
    cco_coll coll;
    const cco_algo *algo;
} entry;

#define CCO_ALGO(COLL, coll, name) extern const cco_algo cco_##coll##_##name;
#include "algo/registry.def"
#undef CCO_ALGO

static const entry entries[] = {
#define CCO_ALGO(COLL, coll, name) {CCO_##COLL, &cco_##coll##_##name},
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
