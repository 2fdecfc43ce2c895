/* SPDX-License-Identifier: BSD-3-Clause */
/* copies.h - copies of what a call points to, so that the program may change it before the end. */
#ifndef CCO_COPIES_H
#define CCO_COPIES_H

#include "api/pending.h"

/* Points a call to copies of its arrays, and of its send buffer if that is protected.  `*kept` is
 * NULL if there is nothing to keep.  Returns MPI_SUCCESS or an MPI error class. */
int cco_copy_arrays(cco_call *call, cco_pending **pending);

/* The same for a call that the MPI's own non-blocking one does, afterwards: its counts of empty
 * blocks become 0. */
void cco_copy_empty(cco_call *call, cco_pending *pending);

#endif
