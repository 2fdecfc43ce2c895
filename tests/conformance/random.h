/* SPDX-License-Identifier: BSD-3-Clause */
/* random.h - random problems for the algorithms. */
#ifndef RANDOM_H
#define RANDOM_H

#include "world.h"

typedef struct random_run {
    const char *only; /* as on the command line of conformance-sim */
    long count;
    unsigned long seed;
    bool (*wanted)(const char *only, cco_coll coll, const cco_algo *algo);
    /* Runs one case; false if it failed. */
    bool (*run)(const cco_algo *algo, const world_case *c, const long *params);
} random_run;

/* Case `i` depends on seed + i alone, so that each can be repeated.  Algorithms it chose from. */
int random_cases(const random_run *r);

#endif
