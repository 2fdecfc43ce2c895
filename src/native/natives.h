/* SPDX-License-Identifier: BSD-3-Clause */
/* natives.h - the collectives of the MPI as pointers: where a call goes that the MPI runs.
 *
 * A call of the program goes to the profiling tool behind us that defines MPI_x, if there is one,
 * else to PMPI_x; what crestacoll calls for itself always goes to PMPI_x.  Looked up once, in
 * MPI_Init; until then all are PMPI_x.  A call through a pointer takes no more than one through the
 * loader's table, which it saves. */
#ifndef CCO_NATIVES_H
#define CCO_NATIVES_H

#include "call/call.h"

typedef struct cco_natives {
#define CCO_NATIVE(name, own, theirs, parameters, arguments) int(*name) parameters;
#include "native/natives.inc"
#undef CCO_NATIVE
} cco_natives;

/* Hidden, also to the compiler, which then need not ask where it is. */
extern cco_natives cco_native[CCO_BYS] __attribute__((visibility("hidden")));

/* Where a call goes that the MPI runs as it came. */
static inline const cco_natives *cco_natives_for(const cco_call *call)
{
    return &cco_native[call->by];
}

/* Finds the tools; before the first call of the program, by whichever thread. */
void cco_natives_look_up(void);

#endif
