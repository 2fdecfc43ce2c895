/* SPDX-License-Identifier: BSD-3-Clause */
/* handles.h - Fortran's handles and constants become C's. */
#ifndef CCO_HANDLES_H
#define CCO_HANDLES_H

#include <stdbool.h>
#include <stddef.h>

#include "mpi/mpi_compat.h"

/* Counts in arrays are handed on as they are. */
_Static_assert(sizeof(MPI_Fint) == sizeof(int),
               "crestacoll needs Fortran integers of the size of int");

/* The address that a Fortran program passed, with its MPI_IN_PLACE and MPI_BOTTOM turned into C's.
 */
void *cco_f_address(void *address);

/* Open MPI: whether that is Fortran's MPI_STATUS_IGNORE. */
bool cco_f_ignores_status(const MPI_Fint *status);

/* The datatypes of an alltoallw as C handles, one per peer; NULL if they are not significant
 * (`sending` in place).  The array is `types` itself where handles are the same in both languages.
 */
MPI_Datatype *cco_f_types(MPI_Fint *types, MPI_Comm comm, void *sendbuf, int sending);

/* For a side of a neighbourhood collective: one per neighbour. */
MPI_Datatype *cco_f_near_types(MPI_Fint *types, MPI_Comm comm, int sending);

void cco_f_free_types(MPI_Datatype *c_types, MPI_Fint *types);

/* Frees both arrays when their request has ended: the MPI may read them until then (Open MPI 4.1
 * does when it lets go of the types). */
void cco_f_keep_types(MPI_Datatype *c_sendtypes, MPI_Fint *sendtypes, MPI_Datatype *c_recvtypes,
                      MPI_Fint *recvtypes, MPI_Request request);

/* Sets an optional ierror. */
static inline void cco_f_return(MPI_Fint *ierror, int rc)
{
    if (ierror != NULL)
        *ierror = (MPI_Fint)rc;
}

#endif
