/* SPDX-License-Identifier: BSD-3-Clause */
/* alias.c - see alias.h. */
#include "plan/alias.h"

#include <stddef.h>

static uintptr_t alias_apart(const cco_call *c)
{
    return (uintptr_t)c->sendbuf - (uintptr_t)c->recvbuf;
}

static bool has_both(const cco_call *c, int rank)
{
    const cco_coll_info *info = &cco_coll_infos[c->coll];
    return info->in != CCO_NONE && !cco_is_neighbor(c->coll) &&
           (!(info->properties & CCO_ROOTED) || rank == c->root) && c->sendbuf != MPI_IN_PLACE &&
           c->recvbuf != MPI_IN_PLACE;
}

/* Gather and scatter, and their like: the elements before this rank's block in the buffer that has
 * all of them, if the other one holds as much. */
static bool is_like_own_block(const cco_call *c, int rank, MPI_Count *before)
{
    const bool gathers = cco_coll_infos[c->coll].properties & CCO_GATHERS;
    const void *counts = gathers ? c->recvcounts : c->sendcounts;
    const void *displs = gathers ? c->recvdispls : c->senddispls;
    const MPI_Count one = gathers ? c->sendcount : c->recvcount;
    const MPI_Count each = gathers ? c->recvcount : c->sendcount;
    *before = counts != NULL ? cco_displ_at(c, displs, rank) : rank * each;
    return c->sendtype == c->recvtype && one > 0 &&
           one == (counts != NULL ? cco_count_at(c, counts, rank) : each);
}

static bool has_like_blocks(const cco_call *c, int rank)
{
    if (cco_coll_infos[c->coll].properties & CCO_REDUCTION)
        return (c->recvcounts != NULL ? cco_count_at(c, c->recvcounts, rank) : c->recvcount) > 0;
    return c->sendcounts == c->recvcounts && c->sendtypes == c->recvtypes &&
           (c->sendtypes != NULL || c->sendtype == c->recvtype) &&
           (c->sendcounts != NULL || (c->sendcount == c->recvcount && c->sendcount > 0));
}

uintptr_t cco_alias_apart(const cco_call *c, int rank)
{
    const int properties = cco_coll_infos[c->coll].properties;
    MPI_Aint low, extent = 0;
    MPI_Count before;
    if (!has_both(c, rank))
        return CCO_NOT_APART;
    if (!(properties & (CCO_GATHERS | CCO_SCATTERS)))
        return has_like_blocks(c, rank) ? 0 : CCO_NOT_APART;
    if (!is_like_own_block(c, rank, &before) ||
        (before != 0 && (!cco_is_type(c->recvtype) ||
                         PMPI_Type_get_extent(c->recvtype, &low, &extent) != MPI_SUCCESS)))
        return CCO_NOT_APART;
    const uintptr_t block = (uintptr_t)before * (uintptr_t)extent;
    return properties & CCO_GATHERS ? block : -block;
}

/* Most calls end at the first comparison; the MPI is asked for an extent only where the distance is
 * that of some. */
bool cco_aliased(const cco_call *c, int rank)
{
    const int properties = cco_coll_infos[c->coll].properties;
    const intptr_t far = (intptr_t)alias_apart(c);
    MPI_Count before;
    if (!(properties & (CCO_GATHERS | CCO_SCATTERS)))
        return far == 0 && has_both(c, rank) && has_like_blocks(c, rank);
    if (!has_both(c, rank) || !is_like_own_block(c, rank, &before) ||
        (before == 0 ? far != 0 : far % before != 0))
        return false;
    return alias_apart(c) == cco_alias_apart(c, rank);
}
