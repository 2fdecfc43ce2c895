/* SPDX-License-Identifier: BSD-3-Clause */
/* world.h - how a communicator lies to the MPI_COMM_WORLD of this process. */
#ifndef CCO_WORLD_H
#define CCO_WORLD_H

#include <stdbool.h>

#include "mpi/mpi_compat.h"

/* True while MPI_COMM_WORLD can be used: not in a program of sessions only. */
bool cco_has_world(void);

/* True if all ranks of a communicator are ranks of MPI_COMM_WORLD: none was spawned later, or
 * connected to.  Local, and of this rank: others may see another world. */
bool cco_in_world(MPI_Comm comm);

/* The rank in MPI_COMM_WORLD.  False, and `*rank` unchanged, in a program of sessions only. */
bool cco_world_rank(int *rank);

/* What rank `rank` of `comm` is in MPI_COMM_WORLD; MPI_UNDEFINED if it is none of its ranks. */
int cco_world_rank_of(MPI_Comm comm, int rank);

/* True on the rank that reports for all: world rank 0, and every rank of a program of sessions. */
bool cco_world_reports(void);

#endif
