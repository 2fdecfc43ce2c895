/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_check.h - whether the MPI takes handles of the program, without any error handler of the
 * program's being told: most functions for types and operations would tell that of MPI_COMM_WORLD.
 */
#ifndef CCO_MPI_CHECK_H
#define CCO_MPI_CHECK_H

#include "mpi/mpi_compat.h"

/* A communicator of this rank alone on which errors are returned; MPI_COMM_NULL in a program of
 * sessions. */
MPI_Comm cco_mpi_check_comm(void);
void cco_mpi_check_end(void);

/* Whether a handle is of a communicator, as far as the MPI sees. */
bool cco_mpi_check_handle(MPI_Comm comm);
bool cco_is_intra(MPI_Comm comm); /* not of an intercommunicator, either */

/* In a program of sessions `any` gives a communicator of the program; NULL: it has a world. */
void cco_mpi_check_without_world(MPI_Comm (*any)(void));

/* A communicator to pack on: the first, or any of the program's. */
MPI_Comm cco_mpi_check_any_comm(void);

/* What the MPI says to so many elements of a type, or to a reduction: MPI_SUCCESS, or its error. */
int cco_mpi_check_type(MPI_Datatype type, MPI_Count count);
int cco_mpi_check_op(MPI_Op op, MPI_Datatype type);

/* Whether the MPI refuses null buffers of predefined types, and whether it takes MPI_DATATYPE_NULL
 * in arrays of types where the count is 0. */
#define CCO_NULL_BUFFERS_REFUSED (CCO_OPEN_MPI == 0)
#define CCO_NULL_TYPES (CCO_OPEN_MPI == 0)

#endif
