/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_behavior.h - what the MPI below does where the standard leaves it open: whether its waits
 * yield, when it begins epochs of windows, how it accumulates.  All of this process. */
#ifndef CCO_MPI_BEHAVIOR_H
#define CCO_MPI_BEHAVIOR_H

#include <stdbool.h>

/* Whether blocking calls yield the core while they wait, as the environment or the MPI itself says;
 * false where neither does. */
bool cco_mpi_yields(void);

/* As the environment alone says, which takes no time. */
bool cco_mpi_yields_told(void);

/* Whether epochs begin in the call that opens them, in windows whose memory is a file of this name.
 * An MPI may begin an epoch late: MPI_Win_lock, MPI_Win_start and MPI_Win_fence may return before
 * they have the lock, or the other ranks are ready, if the first operation waits for that (MPI 4.1,
 * section 12.5).  An operation that passes the MPI by would come too early then.  Known of MPIs
 * whose sources we have read; false for all others. */
bool cco_epochs_begin_at_once(const char *file);

/* Whether accumulates of this MPI are messages even where the ranks share memory. */
bool cco_accumulates_are_messages(void);

#endif
