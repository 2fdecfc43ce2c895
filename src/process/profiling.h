/* SPDX-License-Identifier: BSD-3-Clause */
/* profiling.h - the profile of a part of a program, for crestacoll.profile() in Python.
 *
 * Both are collective over MPI_COMM_WORLD, and no other thread calls collectives meanwhile.  They
 * return MPI_SUCCESS or an MPI error class, equal on all ranks, and call no error handler. */
#ifndef CCO_PROFILING_H
#define CCO_PROFILING_H

#include "mpi/mpi_compat.h"

/* Counts from here on, beside a profile of the whole run if there is one (CRESTA_PROFILE). */
CCO_EXPORT int cresta_profile_start(void);

/* What was counted since then, on every rank: the text of a profile file without communicators and
 * timeline, to be freed. */
CCO_EXPORT int cresta_profile_stop(char **json);

/* MPI_Pcontrol: 0 suspends recording, anything else resumes it. */
void cco_profiling_control(int level);

#endif
