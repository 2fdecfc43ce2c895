/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_bugs_neighbors.h - faults in neighbourhood collectives. */
#ifndef MPI_BUGS_NEIGHBORS_H
#define MPI_BUGS_NEIGHBORS_H

/* Each neighbourhood collective, blocking, non-blocking and persistent, on a grid with periodic
 * dimensions of 1 and 2; on a directed graph with an edge that occurs thrice; on graphs at random,
 * where all wrong ones are printed. */
int neighbors_grid(void);
int neighbors_repeated(void);
int neighbors_sinks(void);
int neighbors_by_chance(void);

/* A rank that has neighbours in one direction only. */
int neighbors_one_way(void);

#endif
