/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_bugs_spawn.h - the faults of the MPI itself that concern spawned processes and
 * sessions. */
#ifndef TESTS_MPI_BUGS_SPAWN_H
#define TESTS_MPI_BUGS_SPAWN_H

int three_spawns(void);

/* Before MPI_Init: rank 0 alone has a session and a communicator of it. */
void session_first_begin(void);
int session_first(void);

#endif
