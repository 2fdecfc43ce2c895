/* SPDX-License-Identifier: BSD-3-Clause */
/* file.h - a reproducer: one call of all ranks, as CRESTA_VALIDATE has written it
 * (src/validate/part.h). */
#ifndef REPRODUCE_FILE_H
#define REPRODUCE_FILE_H

#include "native/calls.h"

/* The call of rank `rank`, with memory of its own, for `comm`; nothing of it is freed.  Ends the
 * job with a message if the file is none, or asks for what no other program has. */
void reproduce_read(cco_call *call, const char *path, int rank, int size, MPI_Comm comm);

/* Ends the job: `what` is wrong with the file. */
__attribute__((noreturn)) void reproduce_stop(const char *path, const char *what);

/* A predefined type by the name that the MPI gives it; MPI_DATATYPE_NULL for any other. */
MPI_Datatype reproduce_type_named(const char *name);

#endif
