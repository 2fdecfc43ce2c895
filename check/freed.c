/* SPDX-License-Identifier: BSD-3-Clause */
/* freed.c - starts a call whose types, operation and arrays are freed while it is under way: MPI,
 * or crestacoll, must keep what it needs. */
#include <stdlib.h>

#include "call.h"

static MPI_Datatype fresh(MPI_Datatype type)
{
    int a, b, c, combiner;
    MPI_Datatype copy;
    if (type == MPI_DATATYPE_NULL)
        return type;
    PMPI_Type_get_envelope(type, &a, &b, &c, &combiner);
    if (combiner == MPI_COMBINER_NAMED)
        return type;
    PMPI_Type_dup(type, &copy);
    return copy;
}

static void forget(MPI_Datatype copy, MPI_Datatype original)
{
    if (copy != original)
        PMPI_Type_free(&copy);
}

/* An array that is gone once the call has begun. */
static int *passing(const int *array, int n)
{
    int *copy = array ? malloc((size_t)n * sizeof *copy) : NULL;
    for (int i = 0; array && i < n; i++)
        copy[i] = array[i];
    return copy;
}

static void spoil(int *copy, int n)
{
    for (int i = 0; copy && i < n; i++)
        copy[i] = 0x5a5a5a5a;
    free(copy);
}

/* Begins with arrays that are gone afterwards. */
static int begin_passing(const struct call *call, MPI_Request *request)
{
    struct call copy = *call;
    int n, inter;
    PMPI_Comm_size(call->comm, &n);
    PMPI_Comm_test_inter(call->comm, &inter);
    if (inter)
        PMPI_Comm_remote_size(call->comm, &n);
    int *sc = passing(call->sendcounts, n), *sd = passing(call->senddispls, n);
    int *rc = passing(call->recvcounts, n), *rd = passing(call->recvdispls, n);
    copy.sendcounts = sc;
    copy.senddispls = sd;
    copy.recvcounts = rc;
    copy.recvdispls = rd;
    const int error = call_make(SPLIT, &copy, request);
    spoil(sc, n);
    spoil(sd, n);
    spoil(rc, n);
    spoil(rd, n);
    return error;
}

int call_freed(enum mode mode, const struct call *call, MPI_Request *request)
{
    enum { MOST = 64 };
    static MPI_Datatype sendtypes[MOST], recvtypes[MOST];
    struct call copy = *call;
    int n;
    PMPI_Comm_size(call->comm, &n);
    copy.sendtype = fresh(call->sendtype);
    copy.recvtype = fresh(call->recvtype);
    if (call->user)
        PMPI_Op_create(call->user, call->commutes, &copy.op);
    for (int i = 0; i < n && call->coll == COLL_Alltoallw; i++) {
        sendtypes[i] = call->sendtypes ? fresh(call->sendtypes[i]) : MPI_DATATYPE_NULL;
        recvtypes[i] = fresh(call->recvtypes[i]);
        copy.sendtypes = sendtypes;
        copy.recvtypes = recvtypes;
    }
    const int rc = mode == SPLIT ? begin_passing(&copy, request) : call_make(mode, &copy, request);
    if (call->user)
        MPI_Op_free(&copy.op);
    forget(copy.sendtype, call->sendtype);
    forget(copy.recvtype, call->recvtype);
    for (int i = 0; i < n && call->coll == COLL_Alltoallw; i++) {
        if (call->sendtypes)
            forget(sendtypes[i], call->sendtypes[i]);
        forget(recvtypes[i], call->recvtypes[i]);
        sendtypes[i] = recvtypes[i] = MPI_DATATYPE_NULL;
    }
    return rc;
}
