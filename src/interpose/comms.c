/* SPDX-License-Identifier: BSD-3-Clause */
/* comms.c - MPI_Comm_free and MPI_Comm_disconnect, in the linked library too: the state of a
 * communicator ends before the program's attributes do (core/comm.h). */
#include "core/comm.h"
#include "core/next.h"

CCO_EXPORT int MPI_Comm_free(MPI_Comm *comm)
{
    const int before = cco_comm_free_begins(comm);
    const int rc = CCO_CALL_NEXT(Comm_free, (comm));
    cco_comm_free_ends(before);
    return rc;
}

CCO_EXPORT int MPI_Comm_disconnect(MPI_Comm *comm)
{
    const int before = cco_comm_free_begins(comm);
    const int rc = CCO_CALL_NEXT(Comm_disconnect, (comm));
    cco_comm_free_ends(before);
    return rc;
}
