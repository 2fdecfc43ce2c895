/* SPDX-License-Identifier: BSD-3-Clause */
/* defects.c - see defects.h.  What was tried with which version: docs/mpi-defects.md. */
#include "native/defects.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "core/mpi_compat.h"
#include "native/calls.h"

enum { INTEL = 400, NOT_MPICH = 1 << 30 };

/* 402 for MPICH 4.2; beyond all limits for other MPIs.  Intel MPI, up to 2021.18 at least, has what
 * is wrong in the MPICH 4.0 that it descends from. */
static int mpich_version(void)
{
    static int known; /* every thread that comes here first finds the same */
    int version = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (version != 0)
        return version;
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length, major = 0, minor = 0;
    PMPI_Get_library_version(text, &length);
    if (sscanf(text, "MPICH Version: %d.%d", &major, &minor) == 2)
        version = 100 * major + minor;
    else
        version = strncmp(text, "Intel(R) MPI", 12) == 0 ? INTEL : NOT_MPICH;
    __atomic_store_n(&known, version, __ATOMIC_RELAXED);
    return version;
}

const char *cco_persistent_defect(cco_coll coll)
{
    const int version = mpich_version();
    switch (coll) {
    case CCO_GATHER:
        return version < 402
                   ? "MPI_Gather_init of MPICH before 4.2 sends what the buffer held at its making"
                   : NULL;
    case CCO_SCATTER:
        return version < 403
                   ? "MPI_Scatter_init of MPICH before 4.3 is wrong from its second start on"
                   : NULL;
    case CCO_ALLGATHER:
        return version < 401
                   ? "MPI_Allgather_init of MPICH before 4.1 is wrong from its second start on"
                   : NULL;
    case CCO_REDUCE_SCATTER:
        return version < 403 ? "MPI_Reduce_scatter_init of MPICH 4.0 aborts with large messages"
                             : NULL;
    default:
        return NULL;
    }
}

/* Every Open MPI that was tried mixes up blocks of different sizes. */
static bool is_open_mpi(void)
{
#ifdef OPEN_MPI
    return true;
#else
    return false;
#endif
}

static int topology(MPI_Comm comm)
{
    int kind = MPI_UNDEFINED;
    return PMPI_Topo_test(comm, &kind) == MPI_SUCCESS ? kind : MPI_UNDEFINED;
}

bool cco_grid_defect(const cco_call *call)
{
    return is_open_mpi() && call->coll == CCO_ALLTOALLW && topology(call->comm) != MPI_UNDEFINED;
}

int cco_grid_neighbours(MPI_Comm comm)
{
    int rank, in = 0, out = 0, weighted;
    switch (topology(comm)) {
    case MPI_CART:
        PMPI_Cartdim_get(comm, &in);
        return 2 * in;
    case MPI_GRAPH:
        PMPI_Comm_rank(comm, &rank);
        PMPI_Graph_neighbors_count(comm, rank, &in);
        return in;
    case MPI_DIST_GRAPH:
        PMPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
        return in > out ? in : out;
    default:
        return 0;
    }
}

bool cco_in_place_defect(const cco_call *call)
{
    if (call->sendbuf != MPI_IN_PLACE)
        return false;
    if (call->coll == CCO_ALLTOALLW)
        return is_open_mpi() || mpich_version() < 402;
    return call->coll == CCO_ALLTOALLV && is_open_mpi();
}

static const char *displaced(const cco_call *c, const void *buffer, const void *displs)
{
    return (const char *)buffer + (c->large ? *(const MPI_Aint *)displs : *(const int *)displs);
}

int cco_blocking_instead(const cco_call *call, int size)
{
    static const MPI_Aint none = 0;
    cco_call ours = *call;
    if (call->coll == CCO_ALLTOALLW && size == 1 && call->sendbuf != MPI_IN_PLACE) {
        ours.sendbuf = displaced(call, call->sendbuf, call->senddispls);
        ours.recvbuf = (char *)(uintptr_t)displaced(call, call->recvbuf, call->recvdispls);
        ours.senddispls = ours.recvdispls = &none;
    }
    return cco_native_blocking(cco_natives_for(&ours), &ours);
}
