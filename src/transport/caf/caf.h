/* SPDX-License-Identifier: BSD-3-Clause */
/* caf.h - Fortran coarrays as memory of other ranks: slices of one that is kept for the whole run,
 * or one that is made for a call. */
#ifndef CCO_CAF_H
#define CCO_CAF_H

#include "mpi/mpi_compat.h"
#include <stdbool.h>

#include "transport/caf/plugin.h"
#include "transport/caf/slices.h"
#include "transport/stream/area.h"

typedef struct cco_caf {
    cco_area area;
    const cco_coarray *coarray;
    bool signals; /* words go by messages (signals.h); atomically in the coarray otherwise */
    struct cco_caf_peer {
        int image;
        size_t start; /* of its share, in the coarray */
    } *peers;         /* NULL: there is no area */
    cco_slice slice;  /* of the coarray that is kept; no blocks: the one for a call */
    uint32_t *left;   /* words in front of the share: which ranks have left the slice */
    char *own;        /* of a rank alone: it needs no coarray, and memory does */
} cco_caf;

/* Starts coarrays in this job, the first time: in MPI_Init, or the first call on a communicator
 * with all ranks of MPI_COMM_WORLD (with MPI_THREAD_MULTIPLE only on itself).  Collective over
 * `comm`. NULL if they run, or on all ranks why there are none. */
const char *cco_caf_begin(MPI_Comm comm);

/* An area in the coarray that is kept, with a share of `least` to `most` bytes for each rank, the
 * first `zero` of them zero.  Collective over `comm`, on which errors are returned, whose ranks are
 * in MPI_COMM_WORLD.  NULL on all ranks, or on all why there is none; later there may be. */
const char *cco_caf_keep(cco_caf *caf, size_t least, size_t most, size_t zero, MPI_Comm comm);

/* An area that is a coarray of its own, one at a time; `comm` has all ranks of MPI_COMM_WORLD. */
const char *cco_caf_make(cco_caf *caf, size_t bytes, size_t zero, MPI_Comm comm);

/* Collective, but does not wait for ranks that come later if the area was kept. */
void cco_caf_free(cco_caf *caf);

/* Ends coarrays in this job, in MPI_Finalize; areas may only be freed afterwards.  Collective over
 * MPI_COMM_WORLD. */
void cco_caf_end(void);

#endif
