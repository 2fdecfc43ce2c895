/* SPDX-License-Identifier: BSD-3-Clause */
/* empty.h - blocks of elements without size, which a non-blocking collective of Open MPI waits for
 * where the other side says that there are none (docs/mpi-defects.md). */
#ifndef CCO_EMPTY_H
#define CCO_EMPTY_H

#include "call/call.h"
#include "call/degrees.h"

/* Gives those blocks the count 0: what a rank does here changes its own arguments only.  `blocks`:
 * of arrays, received and sent; `root`: this rank is the root of a rooted call.  `*memory` has
 * arrays that the call points to then, for the caller to free when it is over; NULL if there are
 * none. */
void cco_drop_empty(cco_call *call, cco_degrees blocks, bool root, void **memory);

#endif
