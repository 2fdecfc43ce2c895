/* SPDX-License-Identifier: BSD-3-Clause */
/* call.c - the bytes of a call. */
#include "call/call.h"

#include <stddef.h>

#include "call/degrees.h"

MPI_Count cco_type_size(MPI_Datatype type)
{
    MPI_Count size = 0;
    if (!cco_is_type(type) || PMPI_Type_size_x(type, &size) != MPI_SUCCESS || size < 0)
        return 0;
    return size;
}

static MPI_Count call_send_bytes(const cco_call *c)
{
    return c->sendcount * cco_type_size(c->sendtype);
}

static MPI_Count recv_bytes(const cco_call *c)
{
    return c->recvcount * cco_type_size(c->recvtype);
}

/* An array that is null is none of a program that the MPI takes: it says so when it gets the call.
 */
static MPI_Count call_at(const cco_call *c, const void *counts, int i)
{
    return counts != NULL ? cco_count_at(c, counts, i) : 0;
}

static MPI_Count call_sum(const cco_call *c, const void *counts, int size)
{
    MPI_Count total = 0;
    for (int i = 0; i < size; i++)
        total += call_at(c, counts, i);
    return total;
}

/* The mean block that this rank exchanges with a peer in alltoallv and alltoallw, and gives to a
 * neighbor in theirs. */
static MPI_Count mean_block(const cco_call *c, int size)
{
    const bool in_place = c->sendbuf == MPI_IN_PLACE;
    const void *counts = in_place ? c->recvcounts : c->sendcounts;
    const MPI_Datatype *types = in_place ? c->recvtypes : c->sendtypes;
    MPI_Count total = 0;
    if (size == 0)
        return 0;
    if (c->coll == CCO_ALLTOALLV || c->coll == CCO_NEIGHBOR_ALLTOALLV)
        total = call_sum(c, counts, size) * cco_type_size(in_place ? c->recvtype : c->sendtype);
    else
        for (int i = 0; i < size; i++)
            total += call_at(c, counts, i) * (types != NULL ? cco_type_size(types[i]) : 0);
    return total / size;
}

MPI_Count cco_bytes(const cco_call *c, int rank, int size)
{
    switch (c->coll) {
    case CCO_GATHER:
    case CCO_ALLGATHER:
    case CCO_ALLTOALL:
        return c->sendbuf == MPI_IN_PLACE ? recv_bytes(c) : call_send_bytes(c);
    case CCO_SCATTER:
        return c->recvbuf == MPI_IN_PLACE ? call_send_bytes(c) : recv_bytes(c);
    case CCO_GATHERV:
    case CCO_ALLGATHERV:
        return c->sendbuf == MPI_IN_PLACE
                   ? call_at(c, c->recvcounts, rank) * cco_type_size(c->recvtype)
                   : call_send_bytes(c);
    case CCO_SCATTERV:
        return c->recvbuf == MPI_IN_PLACE
                   ? call_at(c, c->sendcounts, rank) * cco_type_size(c->sendtype)
                   : recv_bytes(c);
    case CCO_REDUCE_SCATTER:
        return call_sum(c, c->recvcounts, size) * cco_type_size(c->recvtype);
    case CCO_ALLTOALLV:
    case CCO_ALLTOALLW:
        return mean_block(c, size);
    case CCO_NEIGHBOR_ALLGATHER:
    case CCO_NEIGHBOR_ALLGATHERV:
    case CCO_NEIGHBOR_ALLTOALL:
        return call_send_bytes(c);
    case CCO_NEIGHBOR_ALLTOALLV:
    case CCO_NEIGHBOR_ALLTOALLW:
        return mean_block(c, cco_degrees_of(c->comm).out);
    case CCO_BARRIER:
    case CCO_COLLECTIVES:
        return 0;
    default: /* one count, one type */
        return recv_bytes(c);
    }
}
