/* SPDX-License-Identifier: BSD-3-Clause */
/* small.h - broadcasts of some bytes: the root writes data, and in the same cache line the number
 * of the call, into a line of each receiver; receivers of a large team pass them on.
 *
 * OpenSHMEM lets the root write before the receiver calls, since its program has seen to it that
 * the target is ready; here it is a slot of ours, and a receiver may be behind by all its slots.
 * One cache line goes from a writer to a reader for each level of the tree, and none back: how far
 * a receiver is, its writer looks up once in so many calls as there are slots. */
#ifndef CCO_SHMEM_SMALL_H
#define CCO_SHMEM_SMALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mpi/mpi_compat.h"
#include "shmem/symmetric.h"

enum {
    CCO_SMALL_BYTES = 2048, /* at most */
    CCO_SMALL_LINE = 56,    /* bytes that share a line with the number */
};

typedef struct cco_small {
    cco_symmetric memory;
    char *mine; /* slots of this rank; NULL: there are none */
    int rank, size;
    int radix;        /* ranks to which one passes it on */
    uint64_t call;    /* the last one */
    uint64_t *passed; /* for each rank: calls that it is known to have left */
} cco_small;

/* Slots for the ranks of `comm`, which are on one node; collective.  False on all if there is no
 * memory: then all of it is zero. */
bool cco_small_open(cco_small *small, MPI_Comm comm);
void cco_small_close(cco_small *small);

/* Broadcasts up to CCO_SMALL_BYTES bytes from `source` of rank `root` to `dest` of the others. */
void cco_small_broadcast(cco_small *small, void *dest, const void *source, size_t bytes, int root);

#endif
