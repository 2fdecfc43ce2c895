/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_bugs_spawn.h - the faults of the MPI itself that concern spawned processes. */
#ifndef TESTS_MPI_BUGS_SPAWN_H
#define TESTS_MPI_BUGS_SPAWN_H

int three_spawns(void);

#endif
