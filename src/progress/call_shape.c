/* SPDX-License-Identifier: BSD-3-Clause */
/* call_shape.c - see call_shape.h. */
#include "progress/call_shape.h"

int cco_call_shape_of(const cco_call *call, cco_call_shape *shape)
{
    int inter = 0;
    int rc = PMPI_Comm_test_inter(call->comm, &inter);
    if (rc == MPI_SUCCESS)
        rc = PMPI_Comm_rank(call->comm, &shape->rank);
    if (rc == MPI_SUCCESS)
        rc = PMPI_Comm_size(call->comm, &shape->group);
    shape->inter = inter;
    shape->peers = shape->group;
    return rc == MPI_SUCCESS && inter ? PMPI_Comm_remote_size(call->comm, &shape->peers) : rc;
}

bool cco_call_shape_root(const cco_call *call, const cco_call_shape *shape)
{
    return shape->inter ? call->root == MPI_ROOT : call->root == shape->rank;
}
