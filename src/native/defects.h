/* SPDX-License-Identifier: BSD-3-Clause */
/* defects.h - which calls of collectives the MPI below gets wrong (mpi/quirks.def). */
#ifndef CCO_DEFECTS_H
#define CCO_DEFECTS_H

#include <stdbool.h>

#include "comm/comm.h"

/* Why a persistent collective of this MPI must not be used; NULL if it may. */
const char *cco_persistent_defect(cco_coll coll);

/* True for a call in place of which only the blocking one of this MPI is right. */
bool cco_in_place_defect(const cco_call *call);

/* True for a call whose non-blocking one takes as many types as this rank has neighbors in the
 * communicator's topology, instead of as many as there are ranks. */
bool cco_grid_defect(const cco_call *call);

/* What this MPI does wrong in a neighborhood collective on a topology: in its blocking calls, or
 * in the others; NULL: nothing is known.  Equal on all ranks. */
const char *cco_neighbor_defect(cco_coll coll, const cco_topology *topology, bool blocking);

/* The blocking one for such a call.  On one rank Open MPI takes the displacements of an alltoallw
 * for numbers of elements: there it gets none. */
int cco_blocking_instead(const cco_call *call, int size);

/* How many those are at most, sources or destinations. */
int cco_grid_neighbors(MPI_Comm comm);

#endif
