/* SPDX-License-Identifier: BSD-3-Clause */
/* known.c - faults of the MPI itself: of MPICH and of Open MPI. Seen in 4.0.2 and 4.1.4
 * (Debian 12), some of them in 5.0.2 and 5.0.11, too. */
#include "known.h"

#include <string.h>

#include "report.h"

/* As the MPI says when it runs: one binary serves all versions. */
static bool library_is(const char *words)
{
    static char said[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    if (said[0] == '\0')
        PMPI_Get_library_version(said, &length);
    return strstr(said, words) != NULL;
}

/* It has much of what is wrong in MPICH 4.0. */
static bool is_intel_mpi(void)
{
    return library_is("Intel(R) MPI");
}

static bool is_mpich_below_5(void)
{
    return library_is("MPICH Version:\t3.") || library_is("MPICH Version:\t4.") || is_intel_mpi();
}

#ifdef OPEN_MPI
enum { ANY_OPEN_MPI = 1 };
#else
enum { ANY_OPEN_MPI = 0 };
#endif

static const char persistent_stale[] =
    "MPICH 4.0, Intel MPI: persistent gather, scatter, allgather move data at init or break in the "
    "second start (mpi_bugs gather_init)";
static const char alltoallw_in_place[] =
    "MPICH 4.0, Intel MPI: MPI_Ialltoallw in place mixes up types that differ by rank (mpi_bugs "
    "ialltoallw_in_place)";
static const char alltoallv_in_place[] =
    "Open MPI 4, 5: MPI_Ialltoallv and MPI_Ialltoallw in place mix up blocks of different sizes "
    "(mpi_bugs ialltoallv_in_place)";
static const char reduce_scatter_overlap[] =
    "MPICH 4.0 to 5.0: large MPI_Reduce_scatter in place copies between overlapping ranges "
    "(mpi_bugs reduce_scatter_in_place)";
static const char reduce_in_place[] = "MPICH 4.0: large MPI_Reduce in place at a root that is not "
                                      "0 crashes (mpi_bugs reduce_in_place)";
static const char comm_freed[] =
    "Open MPI 4, 5: freeing a communicator with a pending MPI_Iallreduce crashes (mpi_bugs "
    "comm_free)";

static const char neighbors_mixed[] =
    "MPICH 4, Intel MPI: neighbourhood collectives mix up the blocks of several edges between two "
    "ranks (mpi_bugs neighbors_repeated)";
static const char neighbors_sinks[] =
    "MPICH 4.0: MPI_Neighbor_alltoallw gives nothing to ranks without outgoing edges (mpi_bugs "
    "neighbors_sinks)";
static const char neighbors_grid[] =
    "Open MPI 4, 5: MPI_Ineighbor_alltoall(v)(w) mixes up blocks on periodic dimensions of one or "
    "two ranks (mpi_bugs neighbors_grid)";

bool known_native_blocking = true;

/* In place, a block that is longer than what lies before it is moved onto itself. */
static bool moves_onto_itself(const struct call *call)
{
    int size;
    long before = 0;
    PMPI_Comm_size(call->comm, &size);
    for (int r = 0; r < size; before += call->recvcounts[r++])
        if (r > 0 && call->recvcounts[r] > before && call->recvcounts[r] > 1000)
            return true;
    return false;
}

static bool repeats(const struct graph *g)
{
    for (int rank = 0; rank < g->size; rank++)
        for (int i = 0; i < g->out[rank].count; i++)
            for (int k = 0; k < i; k++)
                if (g->out[rank].peer[i] == g->out[rank].peer[k] &&
                    g->out[rank].peer[i] != GRAPH_NOBODY)
                    return true;
    return false;
}

static bool has_sinks(const struct graph *g)
{
    for (int rank = 0; rank < g->size; rank++)
        if (g->in[rank].count > 0 && g->out[rank].count == 0)
            return true;
    return false;
}

static const char *known_of_neighbors(const struct call *call, enum mode mode)
{
    const bool blocking = mode == BLOCKING || mode == LARGE;
    if (call->coll == COLL_Neighbor_alltoallw && has_sinks(call->graph) &&
        library_is("MPICH Version:\t4.0") && (!blocking || known_native_blocking))
        return neighbors_sinks;
    if (!coll_shapes[call->coll].sends_all || !repeats(call->graph))
        return NULL;
    if (is_mpich_below_5() && (!blocking || known_native_blocking))
        return neighbors_mixed;
    return ANY_OPEN_MPI && call->graph->kind == GRAPH_CART && !blocking ? neighbors_grid : NULL;
}

const char *known_bug(const struct call *call, enum mode mode, bool in_place)
{
    if (coll_shapes[call->coll].near)
        return known_of_neighbors(call, mode);
    if (library_is("MPICH Version") && call->coll == COLL_Reduce_scatter && in_place &&
        moves_onto_itself(call))
        return reduce_scatter_overlap;
    if (ANY_OPEN_MPI && (call->coll == COLL_Alltoallv || call->coll == COLL_Alltoallw) &&
        in_place && mode != BLOCKING && mode != LARGE && !mode_split(mode)) /* a copy is sent */
        return alltoallv_in_place;
    if (!library_is("MPICH Version:\t4.0") && !is_intel_mpi())
        return NULL;
    if (mode_persistent(mode) &&
        (call->coll == COLL_Gather || call->coll == COLL_Scatter || call->coll == COLL_Allgather))
        return persistent_stale;
    if (call->coll == COLL_Reduce && in_place && call->root > 0 && call->recvcount > 400 &&
        !is_intel_mpi() && known_native_blocking && (mode == BLOCKING || mode == LARGE))
        return reduce_in_place;
    if (call->coll == COLL_Alltoallw && in_place && mode != BLOCKING && mode != LARGE &&
        !mode_split(mode))
        return alltoallw_in_place;
    return NULL;
}

const char *known_bug_free_in_flight(void)
{
#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION <= 5
    return comm_freed;
#else
    (void)comm_freed;
    return NULL;
#endif
}

void known_report(const char *reason)
{
    enum { REASONS = 8 };
    static const char *said[REASONS];
    for (int i = 0; i < REASONS; i++) {
        if (said[i] == reason)
            return;
        if (!said[i]) {
            said[i] = reason;
            report_left_out(reason);
            return;
        }
    }
}
