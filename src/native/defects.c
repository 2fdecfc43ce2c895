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

bool cco_grid_defect(const cco_call *call)
{
    return is_open_mpi() && call->coll == CCO_ALLTOALLW &&
           cco_topology_kind(call->comm) != MPI_UNDEFINED;
}

const char *cco_neighbor_defect(cco_coll coll, const cco_topology *topology, bool blocking)
{
    const bool all_to_all = cco_coll_infos[coll].in == CCO_NEAR;
    if (!topology->repeats || !all_to_all)
        return NULL;
    if (mpich_version() < 500)
        return "MPICH before 5.0 mixes up blocks where a rank has several edges with one process";
    if (is_open_mpi() && topology->near->grid && !blocking)
        return "Open MPI mixes up blocks of non-blocking and persistent calls where a periodic"
               " dimension has one or two processes";
    return NULL;
}

int cco_grid_neighbours(MPI_Comm comm)
{
    const cco_degrees d = cco_degrees_of(comm);
    return d.in > d.out ? d.in : d.out;
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
