/* SPDX-License-Identifier: BSD-3-Clause */
/* sample.h - which calls on a communicator are checked: a decision that every rank makes alike,
 * from what all ranks know. */
#ifndef CCO_SAMPLE_H
#define CCO_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "call/collectives.h"

enum { CCO_SAMPLE_CLASSES = 64 }; /* powers of two of the bytes of a call */

typedef struct cco_sample {
    uint64_t seed;                 /* on which the ranks have agreed */
    uint64_t calls;                /* so far */
    uint64_t met[CCO_COLLECTIVES]; /* bit per size class of which there was a call */
} cco_sample;

/* Counts a call of `bytes`, which is 0 where ranks do not all know it.  True if it is to be
 * checked: the first of its collective and size class, and of all others a share `rate` (0 to 1),
 * by a hash of seed and number. */
bool cco_sample_takes(cco_sample *sample, cco_coll coll, uint64_t bytes, double rate);

#endif
