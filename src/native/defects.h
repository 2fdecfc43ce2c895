/* SPDX-License-Identifier: BSD-3-Clause */
/* defects.h - collectives that the MPI below gets wrong.  Each was seen with the MPI's own calls
 * alone (tests/mpi/mpi_bugs.c); the version is the library's at run time. */
#ifndef CCO_DEFECTS_H
#define CCO_DEFECTS_H

#include <stdbool.h>

#include "core/comm.h"

/* Open MPI; and the version of MPICH that this MPI is, or has the defects of: 402 for 4.2, beyond
 * all limits for others. */
bool cco_is_open_mpi(void);
int cco_mpich_number(void);

/* Testsome and Waitsome do not say in its status that a persistent receive has failed. */
bool cco_some_defect(void);

/* MPI_Request_get_status ends a persistent request that is over: its status, and its error, are
 * lost. */
bool cco_look_defect(void);

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
