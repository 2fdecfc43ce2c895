/* SPDX-License-Identifier: BSD-3-Clause */
/* copies.h - copies of what a call points to, so that the program may change it before the end. */
#ifndef CCO_COPIES_H
#define CCO_COPIES_H

#include <stddef.h>

#include "call/call.h"

typedef struct cco_copies {
    char *send;            /* protected buffer, NULL if none */
    void *types[2];        /* arrays that Fortran made for the call, NULL if none */
    void *counts;          /* of native/empty.h, NULL if none */
    struct cco_held *held; /* of cco_copy_types, NULL if none */
    _Alignas(max_align_t) char arrays[];
} cco_copies;

/* Points a call to copies of its arrays, and of its send buffer if that is protected.  `*copies` is
 * NULL if there is nothing to copy.  Returns MPI_SUCCESS or an MPI error class. */
int cco_copy_arrays(cco_call *call, cco_copies **copies);

/* Copies the arrays alone, of a call that will be made again with the data of then. */
int cco_copy_only_arrays(cco_call *call, cco_copies **copies);

/* Afterwards, for a call that the MPI's own non-blocking one does: mends what this MPI cannot take
 * (native/empty.h, cco_copy_types).  The same return values, after the communicator's error
 * handler. */
int cco_copy_for_mpi(cco_call *call, cco_copies *copies);

void cco_copies_free(cco_copies *copies); /* NULL: does nothing */

typedef struct cco_held cco_held;

/* Where the MPI has that defect (native/defects.h), points the call to types that the program
 * cannot free, for `*held` to hold until the end; NULL elsewhere.  Returns MPI_SUCCESS or an MPI
 * error class, after the communicator's error handler. */
int cco_copy_types(cco_call *call, cco_held **held);

void cco_held_free(cco_held *held); /* NULL: does nothing */

#endif
