/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_bugs_errors.h - the faults of the MPI itself that concern errors: mpi_bugs_errors.c. */
#ifndef TESTS_MPI_BUGS_ERRORS_H
#define TESTS_MPI_BUGS_ERRORS_H

int handler_leaves(void);
int handler_calls(void);
int waitall_failed(void);
int waitall_over(void);
int some_persistent(void);
int look_ends(void);
int look_handled(void);
int none_active(void);

#endif
