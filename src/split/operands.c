/* SPDX-License-Identifier: BSD-3-Clause */
/* operands.c - see operands.h. */
#include "split/operands.h"

#include <limits.h>
#include <stdlib.h>

#include "reduce/classes.h"
#include "comm/comm.h"
#include "config/config.h"
#include "base/log.h"
#include "call/raise.h"
#include "native/calls.h"
#include "sched/fold.h"
#include "transport/local/local.h"

/* What the end of a request has to do. */
typedef struct operands {
    cco_layout layout;
    cco_reduce_op op;
    int rank, size;
    size_t count; /* elements of this rank's result, */
    int parts;    /* and operands in it; 0: it has none */
    void *result;
    char *all;   /* the operands of all ranks, one after the other */
    int *arrays; /* of an alltoallv: four of them, in one memory */
} operands;

bool cco_operands_wanted(const cco_call *call)
{
    int inter = 1, size = 1;
    return cco_configured.reproducible && call->coll != CCO_BARRIER &&
           cco_coll_infos[call->coll].properties & CCO_REDUCTION && !cco_is_neighbor(call->coll) &&
           call->comm != MPI_COMM_NULL && cco_is_op(call->op) && cco_is_type(call->recvtype) &&
           PMPI_Comm_test_inter(call->comm, &inter) == MPI_SUCCESS && !inter &&
           PMPI_Comm_size(call->comm, &size) == MPI_SUCCESS && size > 1 &&
           cco_classes_of(call) & CCO_OP_ROUNDING;
}

static void free_operands(void *data)
{
    operands *o = data;
    if (o != NULL) {
        free(o->all);
        free(o->arrays);
    }
    free(o);
}

/* The operands are here. */
static void operands_combine(void *data)
{
    static const cco_transport here = {.copy = cco_mpi_copy, .reduce = cco_mpi_reduce};
    operands *o = data;
    const cco_data from = {o->all, o->count * (size_t)o->parts, &o->layout};
    const cco_data into = {o->result, o->count, &o->layout};
    if (from.count > 0)
        cco_fold_run(&here, NULL, true, &from, &into, &o->op);
}

/* To return on one rank would let the others wait. */
static void operands_no_memory(void)
{
    cco_fatal("CRESTA_REPRODUCIBLE: no memory for the operands of a non-blocking reduction");
}

static int operands_parts_of(const cco_call *call, const operands *o)
{
    switch (call->coll) {
    case CCO_REDUCE:
        return o->rank == call->root ? o->size : 0;
    case CCO_SCAN:
        return o->rank + 1;
    case CCO_EXSCAN:
        return o->rank;
    default:
        return o->size;
    }
}

/* The call that brings the operands: what each rank gives to each. */
static cco_coll carrier_of(cco_coll coll)
{
    return coll == CCO_REDUCE                 ? CCO_GATHER
           : coll == CCO_REDUCE_SCATTER       ? CCO_ALLTOALLV
           : coll == CCO_REDUCE_SCATTER_BLOCK ? CCO_ALLTOALL
                                              : CCO_ALLGATHER;
}

/* Whether displacements of all ranks fit into an int: the same on all. */
static bool counts_fit(const operands *o, const cco_call *call)
{
    MPI_Count sent = 0, most = 0;
    for (int i = 0; i < o->size; i++) {
        const MPI_Count n = cco_count_at(call, call->recvcounts, i);
        if (n < 0 || n > INT_MAX || sent > INT_MAX)
            return false;
        sent += n;
        most = n > most ? n : most;
    }
    return most * (o->size - 1) <= INT_MAX;
}

/* Blocks that are not alike: counts and displacements of both sides. */
static int set_arrays(operands *o, const cco_call *call, cco_call *carrier)
{
    MPI_Count sent = 0;
    if (!counts_fit(o, call))
        return MPI_ERR_COUNT;
    int *counts = malloc(4 * (size_t)o->size * sizeof *counts);
    if ((o->arrays = counts) == NULL)
        operands_no_memory();
    for (int i = 0; i < o->size; i++) {
        const MPI_Count n = cco_count_at(call, call->recvcounts, i);
        const MPI_Count received = (MPI_Count)o->count * i;
        counts[i] = (int)n;
        counts[o->size + i] = (int)sent;
        counts[2 * o->size + i] = (int)o->count;
        counts[3 * o->size + i] = (int)received;
        sent += n;
    }
    carrier->large = false;
    carrier->sendcounts = counts;
    carrier->senddispls = counts + o->size;
    carrier->recvcounts = counts + 2 * o->size;
    carrier->recvdispls = counts + 3 * o->size;
    return MPI_SUCCESS;
}

static int operands_prepare(operands *o, const cco_call *call, cco_call *carrier)
{
    MPI_Aint low, extent;
    const bool counts = call->coll == CCO_REDUCE_SCATTER;
    PMPI_Comm_rank(call->comm, &o->rank);
    PMPI_Comm_size(call->comm, &o->size);
    const MPI_Count n = counts ? cco_count_at(call, call->recvcounts, o->rank) : call->recvcount;
    if (n < 0)
        return MPI_ERR_COUNT;
    PMPI_Type_get_extent(call->recvtype, &low, &extent);
    o->layout = (cco_layout){.size = (size_t)cco_type_size(call->recvtype),
                             .extent = extent,
                             .dense = true,
                             .type = call->recvtype};
    o->op = (cco_reduce_op){call->op, cco_kernel_of(call->op, call->recvtype),
                            cco_fold_of(call->op, call->recvtype)};
    o->count = (size_t)n;
    o->parts = operands_parts_of(call, o);
    o->result = call->recvbuf;
    const bool receives = call->coll != CCO_REDUCE || o->parts > 0;
    const size_t bytes = receives ? (size_t)o->size * o->count * (size_t)extent : 0;
    if ((o->all = malloc(bytes + 1)) == NULL)
        operands_no_memory();
    *carrier = *call;
    carrier->coll = carrier_of(call->coll);
    carrier->by = CCO_CALLER_INTERNAL;
    carrier->sendbuf = call->sendbuf == MPI_IN_PLACE ? call->recvbuf : call->sendbuf;
    carrier->sendtype = call->recvtype;
    carrier->sendcount = carrier->recvcount = n;
    carrier->recvbuf = o->all;
    return counts ? set_arrays(o, call, carrier) : MPI_SUCCESS;
}

/* A request that is over from the start may be one that many have. */
static bool operands_is_over(MPI_Request request)
{
    int over = 0;
    return request == MPI_REQUEST_NULL ||
           (PMPI_Request_get_status(request, &over, MPI_STATUS_IGNORE) == MPI_SUCCESS && over);
}

int cco_operands_start(const cco_call *call, cco_copies *copies, MPI_Request *request)
{
    cco_call carrier;
    operands *o = calloc(1, sizeof *o);
    cco_request_data *pending = cco_request_data_make(copies);
    int rc = o != NULL && pending != NULL ? operands_prepare(o, call, &carrier) : MPI_ERR_NO_MEM;
    if (pending == NULL)
        cco_copies_free(copies);
    if (rc != MPI_SUCCESS)
        cco_raise_in(call->comm, call->coll, rc);
    else
        rc = cco_native_nonblocking(&cco_native[CCO_CALLER_INTERNAL], &carrier, request);
    if (rc != MPI_SUCCESS || operands_is_over(*request)) {
        if (rc == MPI_SUCCESS)
            operands_combine(o);
        free_operands(o);
        cco_request_data_free(pending);
        return rc;
    }
    cco_request_data_finishes(pending, operands_combine, free_operands, o);
    cco_request_data_add(pending, false, false, *request);
    return rc;
}

/* What the ranks agreed on, or what all of them got. */
static bool may_be_a_gpus(MPI_Comm comm)
{
    const cco_comm *state = cco_comm_find(comm);
    return state != NULL && state->ready ? state->facts.device
                                         : cco_configured.device_memory == CCO_DEVICE_YES;
}

static void operands_tell(const cco_call *call, const char *what, const char *after)
{
    static bool told;
    int rank = 0;
    PMPI_Comm_rank(call->comm, &rank);
    if (rank == 0 && !__atomic_exchange_n(&told, true, __ATOMIC_RELAXED))
        cco_say("%s: %s (CRESTA_REPRODUCIBLE=1%s)", cco_coll_infos[call->coll].name, what, after);
}

bool cco_operands_allowed(const cco_call *call, bool persistent)
{
    const bool error = cco_configured.fallback == CCO_FALLBACK_ERROR;
    if (!persistent && may_be_a_gpus(call->comm)) {
        operands_tell(call, "non-blocking reductions in a GPU's memory cannot be made reproducible",
                      "");
        return false;
    }
    if (persistent && cco_configured.fallback != CCO_FALLBACK_SILENT)
        operands_tell(call, "persistent reductions are the MPI's own, and not reproducible",
                      error ? ", CRESTA_FALLBACK=error" : "");
    return !persistent || !error;
}
