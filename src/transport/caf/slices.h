/* SPDX-License-Identifier: BSD-3-Clause */
/* slices.h - who has which part of the coarray that is kept.
 *
 * It consists of blocks; a communicator takes a run of them that is free on all of its ranks, the
 * same on each, and gives it back when it is freed.  A rank that frees it may still be written to
 * by those that have not come so far: its blocks are free when all have left, which each tells
 * every other by a word in the slice, its last write there. */
#ifndef CCO_SLICES_H
#define CCO_SLICES_H

#include "mpi/mpi_compat.h"
#include <stdbool.h>
#include <stdint.h>

enum { CCO_BLOCKS = 256 };

typedef struct cco_slice {
    int first, blocks; /* none: it is no slice */
} cco_slice;

/* Takes `most` blocks, or fewer, but not fewer than `least`; collective over `comm`.  The same
 * slice on all ranks, of no blocks if that many in a row are not free on all, or if one is not
 * `ready`.
 */
cco_slice cco_slice_take(int least, int most, bool ready, MPI_Comm comm);

/* This rank needs a slice no longer; it is free as soon as the words of all `ranks` at `left` are
 * not zero. */
void cco_slice_leave(cco_slice slice, const uint32_t *left, int ranks);

#endif
