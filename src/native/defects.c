/* SPDX-License-Identifier: BSD-3-Clause */
/* defects.c - see defects.h.  What was tried with which version: mpi/quirks.def. */
#include "native/defects.h"

#include <stddef.h>
#include <stdint.h>

#include "mpi/quirks.h"
#include "native/calls.h"

/* What is wrong in MPICH before a version, and in what descends from it. */
#define MPICH_BEFORE(version, of, what)                                                            \
    {of "MPICH before " version what, of "Intel MPI" what, of "MVAPICH" what, of "Cray MPICH" what}

const char *cco_persistent_defect(cco_coll coll)
{
    static const struct {
        cco_coll coll;
        bool (*present)(void);
        const char *why[CCO_MPICH_KINDS];
    } wrong[] = {
        {CCO_GATHER, cco_quirk_gather_init,
         MPICH_BEFORE("4.2", "MPI_Gather_init of ", " sends what the buffer held at its making")},
        {CCO_SCATTER, cco_quirk_scatter_init,
         MPICH_BEFORE("4.3", "MPI_Scatter_init of ", " is wrong from its second start on")},
        {CCO_ALLGATHER, cco_quirk_allgather_init,
         MPICH_BEFORE("4.1", "MPI_Allgather_init of ", " is wrong from its second start on")},
        {CCO_REDUCE_SCATTER, cco_quirk_reduce_scatter_init,
         MPICH_BEFORE("4.3", "MPI_Reduce_scatter_init of ", " aborts with large messages")},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (wrong[i].coll == coll && wrong[i].present())
            return wrong[i].why[cco_mpich()->kind];
    return NULL;
}

bool cco_grid_defect(const cco_call *call)
{
    return cco_quirk_grid_ialltoallw() && call->coll == CCO_ALLTOALLW &&
           cco_topology_kind(call->comm) != MPI_UNDEFINED;
}

const char *cco_neighbor_defect(cco_coll coll, const cco_topology *topology, bool blocking)
{
    static const char *const why[CCO_MPICH_KINDS] = MPICH_BEFORE(
        "5.0", "", " mixes up blocks where a rank has several edges with one process");
    const bool all_to_all = cco_coll_infos[coll].in == CCO_NEAR; /* also what is made of one */
    if (topology->sinks && coll == CCO_NEIGHBOR_ALLTOALLW && cco_quirk_neighbors_sinks())
        return "MPI_Neighbor_alltoallw of MPICH 4.0 gives nothing to ranks without outgoing edges";
    if (!topology->repeats || !all_to_all)
        return NULL;
    if (cco_quirk_neighbors_repeated())
        return why[cco_mpich()->kind];
    if (cco_quirk_neighbors_grid() && topology->near->grid && !blocking)
        return "Open MPI mixes up blocks of non-blocking and persistent calls where a periodic"
               " dimension has one or two processes";
    return NULL;
}

int cco_grid_neighbors(MPI_Comm comm)
{
    const cco_degrees d = cco_degrees_of(comm);
    return d.in > d.out ? d.in : d.out;
}

bool cco_in_place_defect(const cco_call *call)
{
    if (call->sendbuf != MPI_IN_PLACE)
        return false;
    return (cco_quirk_ialltoallv_in_place() &&
            (call->coll == CCO_ALLTOALLV || call->coll == CCO_ALLTOALLW)) ||
           (cco_quirk_ialltoallw_in_place() && call->coll == CCO_ALLTOALLW);
}

static const char *defects_displaced(const cco_call *c, const void *buffer, const void *displs)
{
    return (const char *)buffer + (c->large ? *(const MPI_Aint *)displs : *(const int *)displs);
}

int cco_blocking_instead(const cco_call *call, int size)
{
    static const MPI_Aint none = 0;
    cco_call ours = *call;
    if (call->coll == CCO_ALLTOALLW && size == 1 && call->sendbuf != MPI_IN_PLACE) {
        ours.sendbuf = defects_displaced(call, call->sendbuf, call->senddispls);
        ours.recvbuf = (char *)(uintptr_t)defects_displaced(call, call->recvbuf, call->recvdispls);
        ours.senddispls = ours.recvdispls = &none;
    }
    return cco_native_blocking(cco_natives_for(&ours), &ours);
}
