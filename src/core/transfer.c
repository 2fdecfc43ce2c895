/* SPDX-License-Identifier: BSD-3-Clause */
/* transfer.c - see transfer.h. */
#include "core/transfer.h"

#include "core/ulfm.h"
#include "core/wait.h"

void cco_transfer_to(MPI_Comm comm, int peer, int tag, const void *data, size_t bytes)
{
    MPI_Request request;
    if (PMPI_Isend(data, (int)bytes, MPI_BYTE, peer, tag, comm, &request) == MPI_SUCCESS)
        cco_wait(&request);
}

void cco_transfer_from(MPI_Comm comm, int peer, int tag, void *data, size_t bytes)
{
    MPI_Request request;
    if (PMPI_Irecv(data, (int)bytes, MPI_BYTE, peer, tag, comm, &request) == MPI_SUCCESS)
        cco_wait(&request);
}

void cco_transfer_give_up(MPI_Request *request)
{
    int over = 0;
    PMPI_Cancel(request);
    if (!cco_ulfm())
        PMPI_Request_free(request);
    else /* a receive that nothing has come for is over now, and freed */
        PMPI_Test(request, &over, MPI_STATUS_IGNORE);
    *request = MPI_REQUEST_NULL;
}
