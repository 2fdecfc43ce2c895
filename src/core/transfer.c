/* SPDX-License-Identifier: BSD-3-Clause */
/* transfer.c - see transfer.h. */
#include "core/transfer.h"

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
