/* SPDX-License-Identifier: BSD-3-Clause */
/* wait.h - waiting for an MPI request without keeping the core from whoever is to finish it. */
#ifndef CCO_WAIT_H
#define CCO_WAIT_H

#include "mpi/mpi_compat.h"
#include <stdbool.h>
#include <stddef.h>

/* Completes `*request`, pausing between looks (base/pause.h). */
int cco_wait(MPI_Request *request);

/* Sends `bytes` of data to `peer`, or receives them from it, waiting as above. */
void cco_transfer_to(MPI_Comm comm, int peer, int tag, const void *data, size_t bytes);
void cco_transfer_from(MPI_Comm comm, int peer, int tag, void *data, size_t bytes);

/* Moves on what is under way in the MPI, and returns at once: for those who come back soon, or once
 * in a while.  Works from cco_mpi_progress_begin to cco_mpi_progress_end, which is before
 * MPI_Finalize. */
void cco_mpi_progress_begin(void);
void cco_mpi_progress_end(void);
int cco_mpi_progress(void);
int cco_mpi_progress_all(void);

/* In MPI_Init, where the job asks for something; collective.  Compares the number of ranks on this
 * node with that of the cores that they may use, and stores which processes they are (base/proc.h).
 */
void cco_wait_begin(void);

#endif
