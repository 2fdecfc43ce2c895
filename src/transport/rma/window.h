/* SPDX-License-Identifier: BSD-3-Clause */
/* window.h - an MPI window as memory of other ranks (MPI 4.0, chapter 12): passive target, one
 * epoch from its making to its end, puts and gets with flushes, words by MPI_Accumulate. */
#ifndef CCO_WINDOW_H
#define CCO_WINDOW_H

#include "mpi/mpi_compat.h"
#include <stdbool.h>

#include "transport/stream/fragment.h"

/* How a window is used: one epoch of passive target for all its life, or epochs of its owner. */
typedef enum cco_window_use {
    CCO_WINDOW_SHARED, /* the first, in memory that ranks read and write themselves */
    CCO_WINDOW_LOCKED, /* the first, by calls */
    CCO_WINDOW_FENCED,
    CCO_WINDOW_POSTED
} cco_window_use;

/* How long it lives: MPI_Win_free waits for the other ranks, which MPI_Comm_free must not; so what
 * a communicator keeps is retired with it, for another of its ranks (window_pool.h). */
typedef enum cco_window_life { CCO_WINDOW_KEPT, CCO_WINDOW_FOR_A_CALL } cco_window_life;

typedef struct cco_window {
    cco_area area;
    MPI_Win win;   /* MPI_WIN_NULL: there is none */
    MPI_Comm copy; /* what it was made on: MPICH 4.0 needs that until the end */
    cco_window_use use;
    cco_window_life life;
    bool locked;     /* the epoch is open */
    bool held;       /* CRESTA_Win_finalize frees it */
    bool broken;     /* what it holds is unknown: nobody else gets it */
    uint64_t number; /* comm/teardown.h */
    int turned_to;   /* posted: the rank that puts of this one wait for; -1: none */
    bool *open;      /* and for each rank, whether this one has exposed the window to it */
} cco_window;

/* Why this MPI must not be asked for windows between these ranks, NULL if it may; collective. */
const char *cco_window_refused(MPI_Comm comm);

/* Makes a window with a share of `bytes` for each rank, the first `zero` of them zero; in memory
 * that ranks share if they are to `share`, which they must be able to (cco_window_can_share).
 * Collective over `comm`, on which errors are returned.  NULL on all ranks, or on all why there can
 * be none. */
const char *cco_window_make(cco_window *window, size_t bytes, size_t zero, MPI_Comm comm,
                            bool share, cco_window_life life);

/* Makes a window without an epoch, nothing of it zero: its owner opens epochs. */
const char *cco_window_make_bare(cco_window *window, size_t bytes, MPI_Comm comm,
                                 cco_window_use use, cco_window_life life);

/* Puts the next piece of a message, cco_fragment_part, to byte `at` of the receiver's share: in
 * front of the first its head.  Until the epoch ends it must stay. */
int cco_window_put_piece(const cco_window *window, cco_fragment *fragment, size_t at, size_t most);

/* Ends the epoch and frees the window, if there is one; collective.  A struct of zero bytes has
 * none. */
void cco_window_free(cco_window *window);

/* Lets go of a window that is kept, when its communicator ends: local.  It is freed in
 * MPI_Finalize, if nobody takes it. */
void cco_window_retire(cco_window *window);

/* CRESTA_Win_finalize and the end of the process: frees retired windows, those that are held or
 * all; collective, in the order of their numbers (comm/teardown.h). */
void cco_windows_free(bool all);

#endif
