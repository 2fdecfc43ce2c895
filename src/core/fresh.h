/* SPDX-License-Identifier: BSD-3-Clause */
/* fresh.h - communicators and types like those of the program, without its attributes: duplicates
 * would call its copy functions, which are its own affair and may do anything. */
#ifndef CCO_FRESH_H
#define CCO_FRESH_H

#include "core/mpi_compat.h"

/* Collective: a communicator of the same ranks in the same order.  Returns MPI_SUCCESS or an MPI
 * error class. */
int cco_fresh_comm(MPI_Comm comm, MPI_Comm *made);

/* A committed type with the same data, bounds and extent. */
int cco_fresh_type(MPI_Datatype type, MPI_Datatype *made);

#endif
