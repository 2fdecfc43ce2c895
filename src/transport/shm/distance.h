/* SPDX-License-Identifier: BSD-3-Clause */
/* distance.h - how far apart the cores of two ranks are: what it takes them to exchange a cache
 * line, and to pass data through a slot and by the kernel. */
#ifndef CCO_DISTANCE_H
#define CCO_DISTANCE_H

#include "transport/shm/pull.h"
#include "transport/shm/slot_ring.h"

enum {
    CCO_DISTANCE_BYTES = CCO_PULL_CHUNK, /* of each copy: a slot has room for them */
    CCO_DISTANCE_MOST = (1 << 20) - 1,   /* ns: what takes longer was interrupted */
};

/* The least times that were seen, in ns; all 0: not known. */
typedef struct cco_distance {
    unsigned line;          /* from a rank's store to another rank's load */
    unsigned slots, kernel; /* CCO_DISTANCE_BYTES, freshly written, through a slot; by the kernel */
} cco_distance;

/* Bytes of shared memory that a rank has. */
size_t cco_distance_share(void);

/* Makes this rank's part ready, at its place in the shared memory; before all others measure. */
void cco_distance_open(char *mine);

/* Measures between the first and the last rank, for at most some 2 ms.  Every rank of the ring
 * calls this, at the same place between its calls; `memory` is that of rank 0, with that of each
 * rank pull->share bytes behind that of the one before.  Gives the distance on the last rank, or
 * less than that if the two hardly ran at the same time: zeros; on all others zeros. */
cco_distance cco_distance_measure(cco_slot_ring *ring, cco_pull *pull, char *memory);

#endif
