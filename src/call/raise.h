/* SPDX-License-Identifier: BSD-3-Clause */
/* raise.h - errors that the library finds itself, raised in the name of the call that the program
 * made. */
#ifndef CCO_RAISE_H
#define CCO_RAISE_H

#include "call/collectives.h"
#include "mpi/mpi_compat.h"

/* Whether the error handler of a communicator ends the job, as the default does. */
bool cco_raise_ends_job(MPI_Comm comm);

/* Calls the error handler of `comm`, of MPI_COMM_WORLD if that is MPI_COMM_NULL, for an error in
 * `call`, and returns the error.  It may never come back. */
int cco_raise(MPI_Comm comm, const char *call, int error);

/* Calls it without a word: the error is of a function of our own, as its class says. */
int cco_refuse(MPI_Comm comm, int error_class);

/* cco_raise where what has happened was said already. */
int cco_raise_said(MPI_Comm comm, int error);

/* cco_raise for a collective. */
int cco_raise_in(MPI_Comm comm, cco_coll coll, int error);

#endif
