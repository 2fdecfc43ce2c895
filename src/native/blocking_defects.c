/* SPDX-License-Identifier: BSD-3-Clause */
/* blocking_defects.c - see blocking_defects.h. */
#include "native/blocking_defects.h"

#include "call/data.h"
#include "reduce/kernels.h"
#include "mpi/quirks.h"
#include "native/defects.h"

static bool blocking_defects_is_empty(MPI_Count count, MPI_Datatype type)
{
    return count > 0 && cco_is_type(type) && cco_type_size(type) == 0;
}

static bool any_empty(const cco_call *c, const void *counts, MPI_Count count, MPI_Datatype type,
                      int blocks)
{
    bool found = counts == NULL && blocking_defects_is_empty(count, type);
    for (int i = 0; counts != NULL && i < blocks; i++)
        found = found || blocking_defects_is_empty(cco_count_at(c, counts, i), type);
    return found;
}

/* Arguments that mean nothing on this rank are not looked at. */
bool cco_blocking_call_is_odd(const cco_comm *state, const cco_call *c)
{
    const int properties = cco_coll_infos[c->coll].properties;
    const bool root = !(properties & CCO_ROOTED) || c->root == state->rank;
    if (cco_is_neighbor(c->coll))
        return (cco_comm_blocks(state, c->coll).in == 0) !=
               (cco_comm_blocks(state, c->coll).out == 0);
    if (properties & CCO_REDUCTION || c->coll == CCO_BARRIER || c->coll == CCO_ALLTOALLW)
        return false;
    const bool sends = c->coll != CCO_BCAST && c->sendbuf != MPI_IN_PLACE &&
                       (root || !(properties & CCO_SCATTERS));
    const bool receives = c->recvbuf != MPI_IN_PLACE && (root || !(properties & CCO_GATHERS));
    const bool derived = (sends && cco_type_derived(c->sendtype)) ||
                         (receives && cco_type_derived(c->recvtype));
    if (c->coll == CCO_ALLGATHERV && derived)
        return true;
    return (sends && any_empty(c, c->sendcounts, c->sendcount, c->sendtype, state->size)) ||
           (receives && any_empty(c, c->recvcounts, c->recvcount, c->recvtype, state->size));
}

static bool is_unsigned(cco_number number)
{
    return number >= CCO_U8 && number <= CCO_U64;
}

static bool is_short(cco_number number)
{
    return number == CCO_I8 || number == CCO_I16 || number == CCO_U8 || number == CCO_U16;
}

static const char *reduction_defect(const cco_call *call)
{
    const cco_number number = cco_number_of(call->recvtype);
    const bool extreme = call->op == MPI_MAX || call->op == MPI_MIN;
    if (extreme && is_unsigned(number) && cco_quirk_unsigned_max())
        return "it compares unsigned integers as signed ones";
    if (call->op == MPI_SUM && is_short(number) && cco_quirk_short_sum())
        return "its sums of integers of 8 and 16 bits saturate";
    return NULL;
}

const char *cco_blocking_defect(const cco_comm *state, const cco_call *call, bool odd)
{
    if (cco_is_neighbor(call->coll) &&
        cco_neighbor_defect(call->coll, &state->topology, true) != NULL)
        return cco_neighbor_defect(call->coll, &state->topology, true);
    if (cco_is_neighbor(call->coll))
        return odd && cco_quirk_neighbors_one_way() ? "it refuses neighbours in one direction only"
                                                    : NULL;
    if (cco_coll_infos[call->coll].properties & CCO_REDUCTION)
        return reduction_defect(call);
    if (call->coll == CCO_ALLTOALLW && state->size == 1 && cco_quirk_alone_alltoallw())
        return "its displacements on one rank count elements";
    return odd ? "it may not return from calls with such types" : NULL;
}
