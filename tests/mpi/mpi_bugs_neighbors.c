/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_bugs_neighbors.c - neighbourhood collectives of the MPI against the standard (graphs.h). */
#include "mpi_bugs_neighbors.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

#include "topology.h"

#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION < 5
#define INIT(name) MPIX_Neighbor_##name##_init
#define HAS_INIT 1
#elif MPI_VERSION >= 4 || defined(OPEN_MPI)
#define INIT(name) MPI_Neighbor_##name##_init
#define HAS_INIT 1
#endif

enum { MOST = 512, LONGEST = 3 };
enum { ALLGATHER, ALLGATHERV, ALLTOALL, ALLTOALLV, ALLTOALLW, COLLS };
enum { BLOCKING, NONBLOCKING, PERSISTENT, MODES };

static const char *const colls[] = {"allgather", "allgatherv", "alltoall", "alltoallv",
                                    "alltoallw"};
static const char *const modes[] = {"blocking", "non-blocking", "persistent"};

/* The arguments of any of them, on one rank. */
struct arguments {
    int send[MOST * LONGEST], recv[MOST * LONGEST];
    int sendcounts[MOST], senddispls[MOST], recvcounts[MOST], recvdispls[MOST];
    MPI_Aint sendbytes[MOST], recvbytes[MOST];
    MPI_Datatype types[MOST];
};

static int length(int coll, int from, int slot)
{
    if (coll == ALLTOALLV || coll == ALLTOALLW)
        return (3 * from + 2 * slot) % (LONGEST + 1);
    return coll == ALLGATHERV ? from % (LONGEST + 1) : 2;
}

static int value(int coll, int from, int slot, int k)
{
    return 10000 * (from + 1) + 10 * (coll < ALLTOALL ? 0 : slot) + k;
}

static void fill(struct arguments *a, int coll, const struct graph *g, int me)
{
    const struct graph_ends *in = &g->in[me], *out = &g->out[me];
    const int blocks = coll < ALLTOALL ? 1 : out->count;
    for (int i = 0; i < MOST * LONGEST; i++)
        a->send[i] = a->recv[i] = -1;
    for (int i = 0; i < MOST; i++) {
        a->types[i] = MPI_INT;
        a->senddispls[i] = a->recvdispls[i] = LONGEST * i;
        a->sendbytes[i] = a->recvbytes[i] = (MPI_Aint)sizeof(int) * LONGEST * i;
    }
    for (int i = 0; i < blocks; i++) {
        a->sendcounts[i] = length(coll, me, i);
        for (int k = 0; k < a->sendcounts[i]; k++)
            a->send[(coll == ALLTOALL ? 2 : LONGEST) * i + k] = value(coll, me, i, k);
    }
    for (int i = 0; i < in->count; i++)
        a->recvcounts[i] = in->peer[i] == GRAPH_NOBODY ? 1 : length(coll, in->peer[i], in->slot[i]);
}

static int start(int mode, int coll, struct arguments *a, MPI_Comm comm, MPI_Request *request)
{
#define ALLGATHER_ARGS a->send, 2, MPI_INT, a->recv, 2, MPI_INT, comm
#define ALLGATHERV_ARGS                                                                            \
    a->send, a->sendcounts[0], MPI_INT, a->recv, a->recvcounts, a->recvdispls, MPI_INT, comm
#define ALLTOALLV_ARGS                                                                             \
    a->send, a->sendcounts, a->senddispls, MPI_INT, a->recv, a->recvcounts, a->recvdispls,         \
        MPI_INT, comm
#define ALLTOALLW_ARGS                                                                             \
    a->send, a->sendcounts, a->sendbytes, a->types, a->recv, a->recvcounts, a->recvbytes,          \
        a->types, comm
    *request = MPI_REQUEST_NULL;
    switch (mode * COLLS + coll) {
    case ALLGATHER:
        return MPI_Neighbor_allgather(ALLGATHER_ARGS);
    case ALLGATHERV:
        return MPI_Neighbor_allgatherv(ALLGATHERV_ARGS);
    case ALLTOALL:
        return MPI_Neighbor_alltoall(ALLGATHER_ARGS);
    case ALLTOALLV:
        return MPI_Neighbor_alltoallv(ALLTOALLV_ARGS);
    case ALLTOALLW:
        return MPI_Neighbor_alltoallw(ALLTOALLW_ARGS);
    case COLLS + ALLGATHER:
        return MPI_Ineighbor_allgather(ALLGATHER_ARGS, request);
    case COLLS + ALLGATHERV:
        return MPI_Ineighbor_allgatherv(ALLGATHERV_ARGS, request);
    case COLLS + ALLTOALL:
        return MPI_Ineighbor_alltoall(ALLGATHER_ARGS, request);
    case COLLS + ALLTOALLV:
        return MPI_Ineighbor_alltoallv(ALLTOALLV_ARGS, request);
    case COLLS + ALLTOALLW:
        return MPI_Ineighbor_alltoallw(ALLTOALLW_ARGS, request);
#ifdef HAS_INIT
#define MORE MPI_INFO_NULL, request
    case 2 * COLLS + ALLGATHER:
        return INIT(allgather)(ALLGATHER_ARGS, MORE);
    case 2 * COLLS + ALLGATHERV:
        return INIT(allgatherv)(ALLGATHERV_ARGS, MORE);
    case 2 * COLLS + ALLTOALL:
        return INIT(alltoall)(ALLGATHER_ARGS, MORE);
    case 2 * COLLS + ALLTOALLV:
        return INIT(alltoallv)(ALLTOALLV_ARGS, MORE);
    case 2 * COLLS + ALLTOALLW:
        return INIT(alltoallw)(ALLTOALLW_ARGS, MORE);
#endif
    default:
        return MPI_ERR_OTHER;
    }
}

static int finish(int mode, MPI_Request *request)
{
    if (*request == MPI_REQUEST_NULL)
        return MPI_SUCCESS;
    int rc = mode == PERSISTENT ? MPI_Start(request) : MPI_SUCCESS;
    if (rc == MPI_SUCCESS)
        rc = MPI_Wait(request, MPI_STATUS_IGNORE);
    if (mode == PERSISTENT)
        MPI_Request_free(request);
    return rc;
}

/* Elements of the result that are wrong. */
static int count_wrong(const struct arguments *a, int coll, const struct graph *g, int me)
{
    const struct graph_ends *in = &g->in[me];
    int bad = 0;
    for (int i = 0; i < in->count; i++)
        for (int k = 0; k < a->recvcounts[i]; k++) {
            const int at = (coll == ALLGATHER || coll == ALLTOALL ? 2 : LONGEST) * i + k;
            bad += a->recv[at] !=
                   (in->peer[i] == GRAPH_NOBODY ? -1 : value(coll, in->peer[i], in->slot[i], k));
        }
    return bad;
}

static void tell(const struct graph *g, const char *what, const char *mode, int bad, int rc)
{
    static const char *const kinds[] = {"grid", "graph", "directed graph"};
    printf("neighbor_%s, %s, on a %s of %d:", what, mode, kinds[g->kind], g->size);
    for (int d = 0; d < g->ndims; d++)
        printf(" %d%s", g->dims[d], g->periods[d] ? " periodic" : "");
    for (int i = 0; i < g->in[0].count && g->kind != GRAPH_CART; i++)
        printf(" %d", g->in[0].peer[i]);
    printf(": %d ranks are wrong, the worst error is %d\n", bad, rc);
}

/* All calls on a topology.  Returns how many were wrong on some rank. */
static int try_all(const struct graph *g)
{
    int me, found = 0;
    struct arguments *a = malloc(sizeof *a);
    MPI_Comm comm = topology_make(MPI_COMM_WORLD, g);
    MPI_Comm_rank(comm, &me);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); /* MPI_Wait calls that one */
    for (int mode = 0; mode < MODES; mode++)
        for (int coll = 0; coll < COLLS; coll++) {
            MPI_Request request;
            int mine[2], all[2];
            fill(a, coll, g, me);
            mine[1] = start(mode, coll, a, comm, &request);
            if (mine[1] == MPI_SUCCESS)
                mine[1] = finish(mode, &request);
            mine[0] = count_wrong(a, coll, g, me) > 0;
            MPI_Allreduce(mine, all, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
            if (all[0] > 0 && me == 0)
                tell(g, colls[coll], modes[mode], all[0], all[1]);
            found += all[0] > 0;
        }
    MPI_Comm_free(&comm);
    free(a);
    return found;
}

static int ranks(void)
{
    int n;
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    return n;
}

int neighbors_grid(void)
{
    struct graph g;
    graph_of_grid(&g, 3, (int[]){ranks(), 1, 1}, (int[]){1, 1, 1});
    const int found = try_all(&g);
    graph_free(&g);
    return found;
}

int neighbors_repeated(void)
{
    struct graph g;
    graph_begin(&g, GRAPH_DIRECTED, ranks());
    for (int i = 0; i < g.size; i++)
        for (int k = 0; k < 3; k++) {
            graph_add(&g.out[i], (i + 1) % g.size);
            graph_add(&g.in[i], (i + g.size - 1) % g.size);
        }
    graph_match(&g);
    const int found = try_all(&g);
    graph_free(&g);
    return found;
}

int neighbors_sinks(void)
{
    struct graph g;
    graph_begin(&g, GRAPH_DIRECTED, ranks());
    for (int i = 1; i < g.size; i++) {
        graph_add(&g.out[0], i);
        graph_add(&g.in[i], 0);
    }
    graph_match(&g);
    const int found = try_all(&g);
    graph_free(&g);
    return found;
}

int neighbors_by_chance(void)
{
    enum { GRAPHS = 100 };
    int found = 0;
    for (int i = 0; i < GRAPHS; i++) {
        struct graph g;
        graph_by_chance(&g, ranks(), (uint64_t)i, false);
        found += try_all(&g);
        graph_free(&g);
    }
    return found;
}

int neighbors_one_way(void)
{
    struct graph g;
    graph_begin(&g, GRAPH_DIRECTED, ranks());
    for (int i = 1; i < g.size; i++) {
        graph_add(&g.out[0], i);
        graph_add(&g.in[i], 0);
    }
    graph_match(&g);
    int me, value = 7, got = 0, rc = MPI_SUCCESS;
    MPI_Comm comm = topology_make(MPI_COMM_WORLD, &g);
    int many[64] = {0};
    MPI_Comm_rank(comm, &me);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    many[0] = value;
    rc = MPI_Neighbor_alltoall(many, me == 0, MPI_INT, &got, me != 0, MPI_INT, comm);
    MPI_Comm_free(&comm);
    graph_free(&g);
    return rc != MPI_SUCCESS;
}
