/* SPDX-License-Identifier: BSD-3-Clause */
/* sample.c - see sample.h. */
#include "validate/sample.h"

/* The finalizer of SplitMix64 (G. Steele, D. Lea, C. Flood: Fast splittable pseudorandom number
 * generators, OOPSLA 2014): each bit of the result depends on each bit of the number. */
static uint64_t sample_mixed(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static int sample_class_of(uint64_t bytes)
{
    return bytes == 0 ? 0 : 63 - __builtin_clzll(bytes);
}

bool cco_sample_takes(cco_sample *sample, cco_coll coll, uint64_t bytes, double rate)
{
    const uint64_t golden = 0x9e3779b97f4a7c15u, number = sample->calls++;
    const uint64_t bit = 1ull << sample_class_of(bytes);
    const bool first = !(sample->met[coll] & bit);
    sample->met[coll] |= bit;
    const uint64_t chance = sample_mixed(sample_mixed(sample->seed + golden) + number * golden);
    return first || (double)(chance >> 11) * 0x1p-53 < rate;
}
