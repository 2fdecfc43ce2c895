/* SPDX-License-Identifier: BSD-3-Clause */
/* freed.c - starts a call whose types, operation and arrays are freed while it is under way: MPI,
 * or crestacoll, must keep what it needs. */
#include <stdlib.h>
#include <string.h>

#include "call.h"

/* Also of a type that was made with large counts. */
static int combiner_of(MPI_Datatype type)
{
    int combiner;
#if MPI_VERSION >= 4
    MPI_Count a, b, c, d;
    PMPI_Type_get_envelope_c(type, &a, &b, &c, &d, &combiner);
#else
    int a, b, c;
    PMPI_Type_get_envelope(type, &a, &b, &c, &combiner);
#endif
    return combiner;
}

static MPI_Datatype fresh(MPI_Datatype type)
{
    MPI_Datatype copy;
    if (type == MPI_DATATYPE_NULL || combiner_of(type) == MPI_COMBINER_NAMED)
        return type;
    PMPI_Type_dup(type, &copy);
    return copy;
}

static void forget(MPI_Datatype copy, MPI_Datatype original)
{
    if (copy != original)
        PMPI_Type_free(&copy);
}

/* An array of so many bytes that is gone once the call has begun. */
static void *passing(const void *array, size_t n)
{
    void *copy = array ? malloc(n + 1) : NULL;
    if (copy)
        memcpy(copy, array, n);
    return copy;
}

static void spoil(void *copy, size_t n)
{
    if (copy)
        memset(copy, 0x5a, n);
    free(copy);
}

/* Begins with arrays that are gone afterwards. */
static int begin_passing(const struct call *call, MPI_Request *request)
{
    struct call copy = *call;
    const size_t sent = (size_t)call_blocks(call, true), got = (size_t)call_blocks(call, false);
    int *sc = passing(call->sendcounts, sent * sizeof *sc);
    int *sd = passing(call->senddispls, sent * sizeof *sd);
    int *rc = passing(call->recvcounts, got * sizeof *rc);
    int *rd = passing(call->recvdispls, got * sizeof *rd);
    MPI_Aint *sb = passing(call->sendbytes, sent * sizeof *sb);
    MPI_Aint *rb = passing(call->recvbytes, got * sizeof *rb);
    copy.sendcounts = sc;
    copy.senddispls = sd;
    copy.sendbytes = sb;
    copy.recvcounts = rc;
    copy.recvdispls = rd;
    copy.recvbytes = rb;
    const int error = call_make(SPLIT, &copy, request);
    spoil(sc, sent * sizeof *sc);
    spoil(sd, sent * sizeof *sd);
    spoil(rc, got * sizeof *rc);
    spoil(rd, got * sizeof *rd);
    spoil(sb, sent * sizeof *sb);
    spoil(rb, got * sizeof *rb);
    return error;
}

int call_freed(enum mode mode, const struct call *call, MPI_Request *request)
{
    enum { MOST = 256 };
    static MPI_Datatype sendtypes[MOST], recvtypes[MOST];
    struct call copy = *call;
    const bool typed = call->coll == COLL_Alltoallw || call->coll == COLL_Neighbor_alltoallw;
    const int sent = typed ? call_blocks(call, true) : 0;
    const int got = typed ? call_blocks(call, false) : 0;
    copy.sendtype = fresh(call->sendtype);
    copy.recvtype = fresh(call->recvtype);
    if (call->user)
        PMPI_Op_create(call->user, call->commutes, &copy.op);
    for (int i = 0; i < sent; i++)
        sendtypes[i] = call->sendtypes ? fresh(call->sendtypes[i]) : MPI_DATATYPE_NULL;
    for (int i = 0; i < got; i++)
        recvtypes[i] = fresh(call->recvtypes[i]);
    if (typed) {
        copy.sendtypes = sendtypes;
        copy.recvtypes = recvtypes;
    }
    const int rc = mode == SPLIT ? begin_passing(&copy, request) : call_make(mode, &copy, request);
    if (call->user)
        MPI_Op_free(&copy.op);
    forget(copy.sendtype, call->sendtype);
    forget(copy.recvtype, call->recvtype);
    for (int i = 0; i < sent; i++) {
        if (call->sendtypes)
            forget(sendtypes[i], call->sendtypes[i]);
        sendtypes[i] = MPI_DATATYPE_NULL;
    }
    for (int i = 0; i < got; i++) {
        forget(recvtypes[i], call->recvtypes[i]);
        recvtypes[i] = MPI_DATATYPE_NULL;
    }
    return rc;
}
