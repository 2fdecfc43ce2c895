/* SPDX-License-Identifier: BSD-3-Clause */
/* dup_bare.h - communicators and types like those of the program, without its attributes:
 * duplicates would call its copy functions, which are its own affair and may do anything. */
#ifndef CCO_DUP_BARE_H
#define CCO_DUP_BARE_H

#include "mpi/mpi_compat.h"

/* Collective: a communicator of the same ranks in the same order.  Returns MPI_SUCCESS or an MPI
 * error class. */
int cco_comm_dup_bare(MPI_Comm comm, MPI_Comm *made);

/* A committed type with the same data, bounds and extent. */
int cco_type_dup_bare(MPI_Datatype type, MPI_Datatype *made);

#endif
