/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_bugs_failures.h - the faults of the MPI itself when a process fails, under
 * `mpirun --with-ft ulfm`. */
#ifndef TESTS_MPI_BUGS_FAILURES_H
#define TESTS_MPI_BUGS_FAILURES_H

int dies_in_create(void);
int dies_in_allreduce(void);
int dies_in_sends(void);

#endif
