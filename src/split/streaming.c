/* SPDX-License-Identifier: BSD-3-Clause */
/* streaming.c - see streaming.h. */
#include "split/streaming.h"

#include "split/request_data.h"
#include "call/degrees.h"
#include "progress/partial_request.h"

/* The blocks that this rank receives in a collective which has several. */
static int streaming_received(cco_coll coll, int root, MPI_Comm comm)
{
    int inter = 0, rank = MPI_PROC_NULL, size = 0;
    if (cco_is_neighbor(coll))
        return cco_degrees_of(comm).in;
    PMPI_Comm_test_inter(comm, &inter);
    if (inter)
        PMPI_Comm_remote_size(comm, &size);
    else
        PMPI_Comm_size(comm, &size);
    if (cco_coll_infos[coll].properties & CCO_ROOTED && !inter)
        PMPI_Comm_rank(comm, &rank);
    return cco_blocks(cco_coll_infos[coll].out, root == (inter ? MPI_ROOT : rank), size);
}

void cco_streaming_over(int count, const MPI_Request requests[])
{
    for (int i = 0; requests != NULL && i < count; i++)
        if (requests[i] != MPI_REQUEST_NULL)
            cco_partial_request_over(requests[i]);
}

int cco_streaming(int rc, cco_coll coll, int root, MPI_Comm comm, MPI_Request *request)
{
    if (rc != MPI_SUCCESS)
        return rc;
    if (!cco_coll_streams(coll)) {
        cco_streaming_over(1, request);
        return rc;
    }
    const MPI_Request begun = *request;
    rc = cco_partial_request_native(request, streaming_received(coll, root, comm));
    if (*request != begun)
        cco_request_data_over(begun);
    return rc;
}
