/* SPDX-License-Identifier: BSD-3-Clause */
/* free_files.h - file descriptors that the MPI needs when it makes shared memory.
 *
 * A window of Open MPI for which one rank finds no descriptor never ends on the others, and MPICH
 * ends the job.  So ranks look before they ask the MPI. */
#ifndef CCO_FREE_FILES_H
#define CCO_FREE_FILES_H

#include "mpi/mpi_compat.h"
#include <stdbool.h>

/* The reason that a fallback states. */
#define CCO_NO_FREE_FILES "a process has too few file descriptors left for the MPI's windows"

/* Whether each process of `comm` has file descriptors left for what the MPI opens there;
 * collective, with the same answer on all ranks.  What was too few stays too few: the program that
 * uses them up has no more of them on the next communicator, and ranks that refuse at once need not
 * count. */
bool cco_free_files(MPI_Comm comm);

#endif
