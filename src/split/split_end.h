/* SPDX-License-Identifier: BSD-3-Clause */
/* split_end.h - waits of the program that move what is ours: the ends of split-phase calls, and
 * those of MPI_Wait* and MPI_Test*. */
#ifndef CCO_SPLIT_END_H
#define CCO_SPLIT_END_H

#include <limits.h>
#include <stdbool.h>

#include "mpi/mpi_compat.h"

/* One turn of a wait of the program that tests in a loop: pauses, but for the first time, and moves
 * what is ours.  False if nothing of ours is under way, unless waits are polite (wait/polite.h):
 * then the MPI can wait by itself.  (It only looks at its own, and nothing else would move ours
 * before the progress thread gets a core.) */
enum { CCO_PROGRESS_FIRST_TURN = INT_MIN }; /* `*tries` before the first turn */
bool cco_progress_turn(int *tries);

/* A turn where no test of the MPI comes between two turns. */
bool cco_progress_turn_alone(int *tries);

/* Looks at requests from number `*at` on, and counts it up; true when all are over.  It ends none,
 * and a wait that begins where it was looks at each but once.  (PMPI_Testall of MPICH 4.0 fails
 * where a persistent collective has ended, and its PMPI_Waitall where a request of ours has not and
 * another is null: docs/mpi-defects.md.) */
bool cco_all_complete(int count, const MPI_Request requests[], int *at);

#endif
