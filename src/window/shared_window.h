/* SPDX-License-Identifier: BSD-3-Clause */
/* shared_window.h - windows of the MPI whose memory every rank can reach by loads and stores, and
 * whose accumulates are ours.
 *
 * The window remains the MPI's: its memory, attributes, epochs, puts and gets.  We only find out
 * where the memory of the other ranks is in this process.  All ranks of a window agree on whether
 * its accumulates are ours, when it is made, and from then on all of them are, or none. */
#ifndef CCO_SHARED_WINDOW_H
#define CCO_SHARED_WINDOW_H

#include <stdbool.h>

#include "mpi/mpi_compat.h"
#include "transport/shm/segment.h"
#include "window/element.h"

/* The memory that a rank has given to the window. */
typedef struct cco_window_share {
    char *base; /* in this process */
    size_t size;
    MPI_Aint unit; /* bytes of a displacement */
} cco_window_share;

typedef struct cco_shared_window {
    int ranks;
    cco_segment segment;     /* has the locks */
    cco_element_lock *locks; /* one for the elements of each rank that are no words */
    cco_window_share shares[];
} cco_shared_window;

/* The MPI has made this window (MPI_Win_allocate, MPI_Win_allocate_shared): finds out whether its
 * accumulates are to be ours.  Collective over `comm`, inside the call that makes the window.
 * `reaches`: all calls of the program that accumulate come to us, in this process.  True on all
 * ranks if they are, false on all if they stay the MPI's. */
bool cco_shared_window_adopt(MPI_Win win, MPI_Comm comm, bool reaches);

/* What this thread looked up last: a window whose accumulates are ours, or NULL for one of the
 * MPI's. */
typedef struct cco_shared_window_last {
    MPI_Win win;
    cco_shared_window *window;
    uint64_t changes;
} cco_shared_window_last;

extern _Thread_local cco_shared_window_last cco_shared_window_looked_up
    __attribute__((tls_model("initial-exec")));
extern uint64_t cco_shared_window_changes; /* windows made and freed; 0: there was none */

cco_shared_window *cco_shared_window_look_up(MPI_Win win);

/* NULL if the window's accumulates are the MPI's. */
static inline cco_shared_window *cco_shared_window_of(MPI_Win win)
{
    const uint64_t changes = __atomic_load_n(&cco_shared_window_changes, __ATOMIC_ACQUIRE);
    if (changes == 0)
        return NULL;
    const cco_shared_window_last *last = &cco_shared_window_looked_up;
    return last->win == win && last->changes == changes ? last->window
                                                        : cco_shared_window_look_up(win);
}

#endif
