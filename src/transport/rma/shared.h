/* SPDX-License-Identifier: BSD-3-Clause */
/* shared.h - an MPI window whose shares all ranks have in their memory (MPI 4.0, section 12.2.3):
 * they read and write there by themselves, and no rank waits until another calls the MPI. */
#ifndef CCO_WINDOW_SHARED_H
#define CCO_WINDOW_SHARED_H

#include "transport/rma/window.h"

/* Whether all ranks are on one node; the same on all of them.  Collective. */
bool cco_window_can_share(MPI_Comm comm);

/* Makes w->win and finds the shares of all; this rank's own is *base.  An error may be of one rank
 * only, and leaves what was made. */
int cco_window_share(cco_window *w, size_t bytes, MPI_Comm comm, void **base);

#endif
