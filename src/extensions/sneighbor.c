/* SPDX-License-Identifier: BSD-3-Clause */
/* sneighbor.c - CRESTA_Sneighbor_alltoall: a neighborhood all-to-all with a request for each
 * message.  All calls of a communicator share a tag, since all ranks make them in one order. */
#include "extensions/multisend_lists.h"
#include "comm/comm.h"
#include "cresta_multisend.h"
#include "observe/observe.h"

/* One direction: what begins for each block.  Receives come in their turn (comm/neighbors.h). */
typedef struct way {
    bool receives, grid;
    char *buffer;
    int count, blocks;
    MPI_Datatype type;
    const int *peers;
} way;

/* Blocks of nobody get a request that is complete. */
static int start_all(const way *w, MPI_Comm comm, MPI_Request requests[])
{
    MPI_Aint low, extent = 0;
    int rc = w->blocks > 0 ? PMPI_Type_get_extent(w->type, &low, &extent) : MPI_SUCCESS;
    for (int k = 0; k < w->blocks && rc == MPI_SUCCESS; k++) {
        const int i = w->receives && w->grid ? k ^ 1 : k;
        const int peer = w->peers[i] == CCO_NO_PEER ? MPI_PROC_NULL : w->peers[i];
        char *at = w->buffer + (MPI_Aint)w->count * extent * i;
        rc = w->receives ? PMPI_Irecv(at, w->count, w->type, peer, 0, comm, &requests[i])
                         : PMPI_Isend(at, w->count, w->type, peer, 0, comm, &requests[i]);
    }
    return rc;
}

int CRESTA_Sneighbor_alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                              void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                              MPI_Request requests[])
{
    cco_lists *lists = cco_lists_of(comm);
    if (lists == NULL)
        return cco_lists_refuse(comm, comm == MPI_COMM_NULL ? MPI_ERR_COMM : cco_lists_why(comm));
    cco_comm *state = cco_comm_find(comm);
    if (cco_observe_refuses(state, "CRESTA_Sneighbor_alltoall"))
        return cco_lists_refuse(comm, MPI_ERR_UNSUPPORTED_OPERATION);
    const cco_neighbors *near = state->topology.near;
    if (near == NULL)
        return cco_lists_refuse(comm, MPI_ERR_TOPOLOGY);
    const int in = near->degrees.in, out = near->degrees.out;
    for (int i = 0; i < in + out; i++)
        requests[i] = MPI_REQUEST_NULL;
    const way receives = {true, near->grid, recvbuf, recvcount, in, recvtype, near->in};
    const way sends = {false,    near->grid, (char *)(uintptr_t)sendbuf, sendcount, out,
                       sendtype, near->out};
    int rc = start_all(&receives, lists->comm, requests);
    if (rc == MPI_SUCCESS)
        rc = start_all(&sends, lists->comm, requests + in);
    return rc == MPI_SUCCESS ? rc : cco_lists_refuse(comm, rc);
}
