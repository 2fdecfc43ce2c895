/* SPDX-License-Identifier: BSD-3-Clause */
/* tally.h - what CRESTA_VALIDATE has done in this process, and its summary. */
#ifndef CCO_TALLY_H
#define CCO_TALLY_H

#include <stdint.h>

#include "validate/check.h"

/* Calls are counted by the first rank of their communicator. */
typedef struct cco_tally {
    uint64_t calls;            /* by implementations of crestacoll, */
    uint64_t skips[CCO_SKIPS]; /* of those in the sample, by what became of them */
    uint64_t otherwise;        /* checked by another reference than the MPI's own call */
    uint64_t differ;           /* calls */
    uint64_t unjudged;         /* elements, on all ranks */
    uint64_t most_bytes;       /* of copies at once */
    double seconds;            /* that checks have taken on this rank */
} cco_tally;

extern cco_tally cco_tally_here;

/* Adds to a number; several threads may be in calls at once. */
void cco_tally_count(uint64_t *number, uint64_t more);
void cco_tally_spent(double seconds);
void cco_tally_bytes(uint64_t bytes);

/* Adds up those of all ranks, and says so on rank 0; collective over MPI_COMM_WORLD.  `wall` is the
 * time since MPI_Init, in seconds. */
void cco_tally_finish(double wall, bool spawned);

#endif
