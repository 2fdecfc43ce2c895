/* SPDX-License-Identifier: BSD-3-Clause */
/* copies_types.h - the types of an MPI_Ialltoallw that the MPI does not hold itself. */
#ifndef CCO_COPIES_TYPES_H
#define CCO_COPIES_TYPES_H

#include "core/call.h"

struct cco_pending; /* api/pending.h */

/* Where the MPI has that defect (native/defects.h), points the call to types that the program
 * cannot free, which `pending` holds until the end.  Returns MPI_SUCCESS or an MPI error class. */
int cco_copy_types(cco_call *call, struct cco_pending *pending);

typedef struct cco_held cco_held;
void cco_held_free(cco_held *held); /* NULL: does nothing */

#endif
