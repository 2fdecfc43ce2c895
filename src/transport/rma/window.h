/* SPDX-License-Identifier: BSD-3-Clause */
/* window.h - an MPI window as memory of other ranks (MPI 4.0, chapter 12): passive target, one
 * epoch from its making to its end, puts and gets with flushes, words by MPI_Accumulate. */
#ifndef CCO_WINDOW_H
#define CCO_WINDOW_H

#include "core/mpi_compat.h"
#include <stdbool.h>

#include "transport/stream/area.h"

typedef struct cco_window {
    cco_area area;
    MPI_Win win;     /* MPI_WIN_NULL: there is none */
    bool locked;     /* the epoch is open */
    uint64_t number; /* core/ending.h */
} cco_window;

/* Why this MPI must not be asked for windows between these ranks, NULL if it may; collective. */
const char *cco_window_refused(MPI_Comm comm);

/* Makes a window with a share of `bytes` for each rank, the first `zero` of them zero; in memory
 * that ranks share if they are to `share`, which they must be able to (cco_window_can_share).
 * Collective over `comm`, on which errors are returned.  NULL on all ranks, or on all why there can
 * be none. */
const char *cco_window_make(cco_window *window, size_t bytes, size_t zero, MPI_Comm comm,
                            bool share);

/* The same without an epoch, nothing of it zero: memory for an owner who opens epochs himself. */
const char *cco_window_make_bare(cco_window *window, size_t bytes, MPI_Comm comm);

/* Ends the epoch and frees the window, if there is one; collective.  A struct of zero bytes has
 * none. */
void cco_window_free(cco_window *window);

#endif
