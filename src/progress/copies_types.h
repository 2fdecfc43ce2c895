/* SPDX-License-Identifier: BSD-3-Clause */
/* copies_types.h - the types of an MPI_Ialltoallw that the MPI does not hold itself. */
#ifndef CCO_COPIES_TYPES_H
#define CCO_COPIES_TYPES_H

#include "core/call.h"

typedef struct cco_held cco_held;

/* Where the MPI has that defect (native/defects.h), points the call to types that the program
 * cannot free, for `*held` to hold until the end; NULL elsewhere.  Returns MPI_SUCCESS or an MPI
 * error class, after the communicator's error handler. */
int cco_copy_types(cco_call *call, cco_held **held);

void cco_held_free(cco_held *held); /* NULL: does nothing */

#endif
