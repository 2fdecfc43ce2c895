/* SPDX-License-Identifier: BSD-3-Clause */
/* window_pool.h - windows whose communicators have ended, for the next ones of the same ranks in
 * the same order.  Ranks free communicators in any order, also unlike ones, and MPI_Win_free would
 * wait for the others; so windows are freed in MPI_Finalize only. */
#ifndef CCO_WINDOW_POOL_H
#define CCO_WINDOW_POOL_H

#include "transport/rma/window.h"

/* Takes one with shares of `bytes` of the use that `window` names, which all ranks of `comm` have
 * retired; collective.  True on all ranks, or false on all. */
bool cco_window_pool_take(cco_window *window, size_t bytes, MPI_Comm comm);

/* Keeps one; local. */
void cco_window_pool_keep(const cco_window *window);

/* Takes any that is held, or any at all; local.  False if there is none. */
bool cco_window_pool_any(cco_window *window, bool all);

#endif
