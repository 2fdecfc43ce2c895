/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_bugs_collectives.h - the faults of the MPI itself that concern collectives with
 * derived types, and on one rank: mpi_bugs_collectives.c. */
#ifndef TESTS_MPI_BUGS_COLLECTIVES_H
#define TESTS_MPI_BUGS_COLLECTIVES_H

int alone_alltoallw(void);
int alone_allgatherv(void);
int allgather_pairs(void);
int gather_no_extent(void);
int gap_behind(void);
int gap_behind_i(void);
int gap_behind_block(void);
int gap_behind_iblock(void);
int shifted_allreduce(void);
int shifted_gather(void);
int empty_gather(void);
int empty_gatherv(void);
int op_elsewhere(void);

#endif
