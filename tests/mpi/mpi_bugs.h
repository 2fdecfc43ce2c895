/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_bugs.h - the faults of the MPI itself that concern requests: mpi_bugs_requests.c. */
#ifndef TESTS_MPI_BUGS_H
#define TESTS_MPI_BUGS_H

int inactive(void);
int testall(void);
int null_grequest(void);
int after_none(void);

#endif
