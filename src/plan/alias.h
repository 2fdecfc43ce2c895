/* SPDX-License-Identifier: BSD-3-Clause */
/* alias.h - calls whose send and receive buffer are one, which the standard forbids.
 *
 * What the MPI refuses we leave to it, so that the program gets its error (cco_arguments_valid).
 * Where it takes such calls programs make them: a reduction is then in place.  Remembered calls are
 * of two buffers (call_cache.h). */
#ifndef CCO_ALIAS_H
#define CCO_ALIAS_H

#include <stdbool.h>
#include <stdint.h>

#include "call/call.h"

/* No two buffers lie so far apart. */
#define CCO_NOT_APART ((uintptr_t)INTPTR_MIN)

/* How far from its receive buffer the send buffer of a call like this must not lie, because what
 * the rank gives itself would be one memory in both: 0, or where its block is.  CCO_NOT_APART for a
 * call that does not have both, or whose types or counts differ. */
uintptr_t cco_alias_apart(const cco_call *call, int rank);

/* True if it lies there. */
bool cco_aliased(const cco_call *call, int rank);

#endif
