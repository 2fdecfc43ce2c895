/* SPDX-License-Identifier: BSD-3-Clause */
/* call_shape.c - see call_shape.h. */
#include "progress/call_shape.h"

int cco_call_shape_of(const cco_call *call, cco_call_shape *shape)
{
    int inter = 0;
    *shape = (cco_call_shape){.rank = 0};
    int rc = PMPI_Comm_test_inter(call->comm, &inter);
    if (rc == MPI_SUCCESS)
        rc = PMPI_Comm_rank(call->comm, &shape->rank);
    if (rc == MPI_SUCCESS)
        rc = PMPI_Comm_size(call->comm, &shape->group);
    shape->inter = inter;
    shape->peers = shape->group;
    if (rc == MPI_SUCCESS && cco_is_neighbor(call->coll))
        shape->near = cco_degrees_of(call->comm);
    return rc == MPI_SUCCESS && inter ? PMPI_Comm_remote_size(call->comm, &shape->peers) : rc;
}

int cco_call_shape_blocks(const cco_call *call, const cco_call_shape *shape, bool sent)
{
    if (cco_is_neighbor(call->coll))
        return sent ? shape->near.out : shape->near.in;
    return cco_coll_infos[call->coll].properties & CCO_REDUCTION ? shape->group : shape->peers;
}

bool cco_call_shape_root(const cco_call *call, const cco_call_shape *shape)
{
    return shape->inter ? call->root == MPI_ROOT : call->root == shape->rank;
}
