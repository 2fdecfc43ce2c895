/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_bugs_windows.h - the faults of the MPI itself that concern windows: mpi_bugs_windows.c. */
#ifndef TESTS_MPI_BUGS_WINDOWS_H
#define TESTS_MPI_BUGS_WINDOWS_H

int win_freed_comm(void);
int win_threads(void);
int accumulate_pairs(void);

#endif
