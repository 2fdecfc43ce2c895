/* SPDX-License-Identifier: BSD-3-Clause */
/* defects.c - see defects.h.  What was tried with which version: docs/mpi-defects.md. */
#include "native/defects.h"

#include <limits.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "core/mpi_compat.h"
#include "native/calls.h"
#include "native/mpich_version.h"

static cco_mpich_version known;

static void find_out(void)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length;
    PMPI_Get_library_version(text, &length);
    known = cco_mpich_version_of(text);
}

static const cco_mpich_version *defects_mpich(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_out);
    return &known;
}

/* What is wrong in MPICH before a version, and in what descends from it. */
#define MPICH_BEFORE(version, of, what)                                                            \
    {of "MPICH before " version what, of "Intel MPI" what, of "MVAPICH" what, of "Cray MPICH" what}

const char *cco_persistent_defect(cco_coll coll)
{
    static const struct {
        cco_coll coll;
        int right; /* from that version on */
        const char *why[CCO_MPICH_KINDS];
    } wrong[] = {
        {CCO_GATHER, 402,
         MPICH_BEFORE("4.2", "MPI_Gather_init of ", " sends what the buffer held at its making")},
        {CCO_SCATTER, 403,
         MPICH_BEFORE("4.3", "MPI_Scatter_init of ", " is wrong from its second start on")},
        {CCO_ALLGATHER, 401,
         MPICH_BEFORE("4.1", "MPI_Allgather_init of ", " is wrong from its second start on")},
        {CCO_REDUCE_SCATTER, 403,
         MPICH_BEFORE("4.3", "MPI_Reduce_scatter_init of ", " aborts with large messages")},
    };
    const cco_mpich_version *version = defects_mpich();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (wrong[i].coll == coll && version->number < wrong[i].right)
            return wrong[i].why[version->kind];
    return NULL;
}

/* Every Open MPI that was tried mixes up blocks of different sizes. */
bool cco_is_open_mpi(void)
{
#ifdef OPEN_MPI
    return true;
#else
    return false;
#endif
}

int cco_mpich_number(void)
{
    return defects_mpich()->number;
}

/* MPICH 5.0 and Intel MPI 2021.18. */
static bool loses_statuses(void)
{
    const cco_mpich_version *version = defects_mpich();
    return version->kind == CCO_MPICH_OF_INTEL ||
           (version->number >= 500 && version->number < INT_MAX);
}

bool cco_some_defect(void)
{
    return loses_statuses();
}

bool cco_look_defect(void)
{
    return loses_statuses();
}

bool cco_grid_defect(const cco_call *call)
{
    return cco_is_open_mpi() && call->coll == CCO_ALLTOALLW &&
           cco_topology_kind(call->comm) != MPI_UNDEFINED;
}

const char *cco_neighbor_defect(cco_coll coll, const cco_topology *topology, bool blocking)
{
    static const char *const why[CCO_MPICH_KINDS] = MPICH_BEFORE(
        "5.0", "", " mixes up blocks where a rank has several edges with one process");
    const bool all_to_all = cco_coll_infos[coll].in == CCO_NEAR; /* also what is made of one */
    if (topology->sinks && coll == CCO_NEIGHBOR_ALLTOALLW && defects_mpich()->kind == CCO_MPICH &&
        defects_mpich()->number == 400)
        return "MPI_Neighbor_alltoallw of MPICH 4.0 gives nothing to ranks without outgoing edges";
    if (!topology->repeats || !all_to_all)
        return NULL;
    if (defects_mpich()->number < 500)
        return why[defects_mpich()->kind];
    if (cco_is_open_mpi() && topology->near->grid && !blocking)
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
    if (call->coll == CCO_ALLTOALLW)
        return cco_is_open_mpi() || defects_mpich()->number < 402;
    return call->coll == CCO_ALLTOALLV && cco_is_open_mpi();
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
