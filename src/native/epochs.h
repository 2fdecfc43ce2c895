/* SPDX-License-Identifier: BSD-3-Clause */
/* epochs.h - what the MPI below does about epochs of windows.
 *
 * An MPI may begin an epoch late: MPI_Win_lock, MPI_Win_start and MPI_Win_fence may return before
 * they have the lock, or the other ranks are ready, if the first operation waits for that (MPI 4.1,
 * section 12.5).  An operation that passes the MPI by would come too early then. */
#ifndef CCO_EPOCHS_H
#define CCO_EPOCHS_H

#include <stdbool.h>

/* Whether epochs begin in the call that opens them, in windows whose memory is a file of this name.
 * Known of MPIs whose sources we have read; false for all others.  Concerns this process. */
bool cco_epochs_begin_at_once(const char *file);

/* Whether accumulates of this MPI are messages even where the ranks share memory. */
bool cco_accumulates_are_messages(void);

#endif
