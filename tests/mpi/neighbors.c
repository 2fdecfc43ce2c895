/* SPDX-License-Identifier: BSD-3-Clause */
/* neighbors.c - neighbourhood collectives beyond one call at a time: counts that change, ranks
 * without neighbours, orders that the MPI chose, communicators that end first, no topology.
 *
 *     neighbors IMPL,...
 *     neighbors IMPL,... stencil     only the algorithm for stencils, under these models */
#include <cresta_sp_coll.h>

#include "testing/testing.h"
#include "topology.h"

enum { MOST = 256, LONGEST = 5 };

static int rank, size;

/* What one alltoallv needs on a rank. */
struct exchange {
    int send[MOST * LONGEST], recv[MOST * LONGEST];
    int sendcounts[MOST], recvcounts[MOST], displs[MOST];
};

static int length(int from, int slot, int round)
{
    return (from + 2 * slot + round) % (LONGEST + 1);
}

static int value(int from, int slot, int round, int k)
{
    return 100000 * from + 1000 * slot + 10 * round + k;
}

static void fill(struct exchange *e, const struct graph *g, int round)
{
    const struct graph_ends *in = &g->in[rank], *out = &g->out[rank];
    for (int i = 0; i < MOST; i++)
        e->displs[i] = LONGEST * i;
    for (int i = 0; i < MOST * LONGEST; i++)
        e->recv[i] = -1;
    for (int i = 0; i < out->count; i++) {
        e->sendcounts[i] = length(rank, i, round);
        for (int k = 0; k < e->sendcounts[i]; k++)
            e->send[LONGEST * i + k] = value(rank, i, round, k);
    }
    for (int i = 0; i < in->count; i++)
        e->recvcounts[i] = in->peer[i] == GRAPH_NOBODY ? 1
                                                       : length(in->peer[i], in->slot[i], round);
}

static void verify(const struct exchange *e, const struct graph *g, int round)
{
    const struct graph_ends *in = &g->in[rank];
    for (int i = 0; i < in->count; i++)
        for (int k = 0; k < LONGEST; k++) {
            const bool there = in->peer[i] != GRAPH_NOBODY && k < e->recvcounts[i];
            const int want = there ? value(in->peer[i], in->slot[i], round, k) : -1;
            const int got = e->recv[LONGEST * i + k];
            CHECK(got == want, "element %d of block %d: %d instead of %d", k, i, got, want);
        }
}

static int exchange(struct exchange *e, MPI_Comm comm)
{
    return CRESTA_Neighbor_alltoallv(e->send, e->sendcounts, e->displs, MPI_INT, e->recv,
                                     e->recvcounts, e->displs, MPI_INT, comm);
}

static void choose(MPI_Comm comm, const char *impl)
{
    char spec[256];
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    snprintf(spec, sizeof spec, "*=%s,neighbor_*=%s", impl, impl);
    CHECK(CRESTA_Set_impl(comm, spec) == MPI_SUCCESS, "CRESTA_Set_impl %s", spec);
}

/* Counts that change from call to call, in arrays at the same place, and again; alltoallv of the
 * whole communicator between, whose arrays have other lengths. */
static void changing(MPI_Comm comm, const struct graph *g)
{
    static struct exchange e;
    int ones[64], at[64], mine[64], theirs[64];
    for (int i = 0; i < size; i++) {
        ones[i] = 1;
        at[i] = mine[i] = i;
    }
    for (int round = 0; round < 12; round++) {
        fill(&e, g, round / 2 % 3);
        CHECK(exchange(&e, comm) == MPI_SUCCESS, "round %d", round);
        verify(&e, g, round / 2 % 3);
        CRESTA_Alltoallv(mine, ones, at, MPI_INT, theirs, ones, at, MPI_INT, comm);
        CHECK(theirs[size - 1] == rank, "alltoallv between: %d", theirs[size - 1]);
    }
}

static void try_graphs(const char *impl)
{
    for (int i = 0; i < 6; i++) {
        struct graph g;
        graph_by_chance(&g, size, 1000 + (uint64_t)i, false);
        snprintf(testing_label, sizeof testing_label, "graph %d", i);
        MPI_Comm comm = topology_make(MPI_COMM_WORLD, &g);
        choose(comm, impl);
        changing(comm, &g);
        MPI_Comm_free(&comm);
        graph_free(&g);
    }
}

/* Rank 0 tells the others something: they send nothing, and it gets nothing, whatever the counts,
 * types and addresses of that side are. */
static void try_one_way(const char *impl)
{
    struct graph g;
    int values[64], got = -1;
    snprintf(testing_label, sizeof testing_label, "one way");
    graph_begin(&g, GRAPH_DIRECTED, size);
    for (int i = 1; i < size; i++) {
        graph_add(&g.out[0], i);
        graph_add(&g.in[i], 0);
    }
    graph_match(&g);
    MPI_Comm comm = topology_make(MPI_COMM_WORLD, &g);
    choose(comm, impl);
    for (int i = 0; i < size; i++)
        values[i] = 7 + i;
    const bool first = rank == 0;
    for (int k = 0; k < 2; k++) {
        const int rc = CRESTA_Neighbor_alltoall(first ? values : NULL, first ? 1 : 99, MPI_INT,
                                                first ? NULL : &got, first ? 3 : 1, MPI_INT, comm);
        CHECK(rc == MPI_SUCCESS, "class %d", rc);
    }
    CHECK(first || got == 6 + rank, "%d", got);
    const int rc = CRESTA_Neighbor_allgather(
        first ? values : NULL, first ? 1 : -1, first ? MPI_INT : MPI_DATATYPE_NULL, &got,
        first ? -1 : 1, first ? MPI_DATATYPE_NULL : MPI_INT, comm);
    CHECK(rc == MPI_SUCCESS, "allgather: class %d", rc);
    CHECK(first || got == 7, "allgather: %d", got);
    MPI_Comm_free(&comm);
    graph_free(&g);
}

/* MPI_Dist_graph_create: rank 0 says all edges, and the order of lists is the MPI's. */
static void try_told(const char *impl)
{
    static struct exchange e;
    static const int weights[64 * 3]; /* MPI_UNWEIGHTED is no address: compilers warn */
    struct graph g;
    int sources[64], degrees[64], ends[64 * 3], edges = 0;
    MPI_Comm comm;
    snprintf(testing_label, sizeof testing_label, "edges of others");
    for (int i = 0; i < size; i++) {
        sources[i] = i;
        degrees[i] = 3;
        for (int k = 0; k < 3; k++)
            ends[edges++] = (i + k * k) % size;
    }
    MPI_Dist_graph_create(MPI_COMM_WORLD, rank == 0 ? size : 0, sources, degrees, ends, weights,
                          MPI_INFO_NULL, 0, &comm);
    choose(comm, impl);
    topology_ask(comm, &g);
    fill(&e, &g, 1);
    CHECK(exchange(&e, comm) == MPI_SUCCESS, "the call");
    verify(&e, &g, 1);
    MPI_Comm_free(&comm);
    graph_free(&g);
}

/* A grid whose ranks stand in another order, and its rows. */
static void try_rows(const char *impl)
{
    static struct exchange e;
    int dims[2] = {0, 0}, periods[2] = {1, 1}, row[2] = {0, 1}, old = rank, length;
    MPI_Comm reversed, grid, rows;
    struct graph g;
    snprintf(testing_label, sizeof testing_label, "rows of a grid");
    MPI_Dims_create(size, 2, dims);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
    MPI_Cart_create(reversed, 2, dims, periods, 1, &grid);
    MPI_Cart_sub(grid, row, &rows);
    choose(rows, impl);
    MPI_Comm_rank(rows, &rank);
    MPI_Comm_size(rows, &length);
    graph_of_grid(&g, 1, &length, periods);
    fill(&e, &g, 2);
    CHECK(exchange(&e, rows) == MPI_SUCCESS, "the call");
    verify(&e, &g, 2);
    rank = old;
    MPI_Comm_free(&rows);
    MPI_Comm_free(&grid);
    MPI_Comm_free(&reversed);
    graph_free(&g);
}

/* Two begins in flight, of arrays that do not stay.  All ranks are neighbours, in other orders in
 * than out; no edge occurs twice, since the MPI may run them. */
static void try_begun(const char *impl)
{
    static struct exchange e[2];
    struct graph g;
    MPI_Request requests[2];
    snprintf(testing_label, sizeof testing_label, "begun");
    graph_begin(&g, GRAPH_DIRECTED, size);
    for (int i = 0; i < size; i++)
        for (int k = 0; k < size; k++) {
            graph_add(&g.out[i], k);
            graph_add(&g.in[i], size - 1 - k);
        }
    graph_match(&g);
    MPI_Comm comm = topology_make(MPI_COMM_WORLD, &g);
    choose(comm, impl);
    CRESTA_Comm_prepare(comm);
    for (int i = 0; i < 2; i++) {
        fill(&e[i], &g, i);
        struct exchange *given = malloc(sizeof *given);
        *given = e[i];
        CHECK(CRESTA_Neighbor_alltoallv_begin(e[i].send, given->sendcounts, given->displs, MPI_INT,
                                              e[i].recv, given->recvcounts, given->displs, MPI_INT,
                                              comm, &requests[i]) == MPI_SUCCESS,
              "begin %d", i);
        memset(given, 0x55, sizeof *given);
        free(given);
    }
    CHECK(CRESTA_Coll_end(2, requests) == MPI_SUCCESS, "the end");
    MPI_Comm_free(&comm);
    for (int i = 0; i < 2; i++)
        verify(&e[i], &g, i);
    graph_free(&g);
}

/* The rank at an offset in a torus of two dimensions, `sign` times. */
static int around(const int dims[2], int from, int offset, int sign)
{
    const int row = from / dims[1] + sign * (offset / 3 - 1) + dims[0];
    const int column = from % dims[1] + sign * (offset % 3 - 1) + dims[1];
    return row % dims[0] * dims[1] + column % dims[1];
}

/* All ranks around each, in an order that is not that of their offsets. */
static void make_stencil(struct graph *g)
{
    int dims[2] = {0, 0};
    MPI_Dims_create(size, 2, dims);
    graph_begin(g, GRAPH_DIRECTED, size);
    for (int from = 0; from < size; from++)
        for (int i = 0; i < 9; i++) {
            const int out = 2 * i % 9, in = (4 * i + 3 + from) % 9;
            if (out != 4)
                graph_add(&g->out[from], around(dims, from, out, 1));
            if (in != 4)
                graph_add(&g->in[from], around(dims, from, in, -1));
        }
    graph_match(g);
}

static void check_blocks(const struct graph *g, const int *recv, bool all)
{
    for (int i = 0; i < g->in[rank].count; i++)
        for (int k = 0; k < 3; k++) {
            const int want = value(g->in[rank].peer[i], all ? 0 : g->in[rank].slot[i], 1, k);
            CHECK(recv[3 * i + k] == want, "element %d of block %d: %d instead of %d", k, i,
                  recv[3 * i + k], want);
        }
}

static void try_stencil(const char *impl)
{
    struct graph g;
    char spec[256];
    int send[3 * 9], recv[3 * 9];
    make_stencil(&g);
    MPI_Comm comm = topology_make(MPI_COMM_WORLD, &g);
    snprintf(testing_label, sizeof testing_label, "stencil");
    snprintf(spec, sizeof spec, "neighbor_alltoall=%s:dimensions,neighbor_allgather=%s:dimensions",
             impl, impl);
    CHECK(CRESTA_Set_impl(comm, spec) == MPI_SUCCESS, "CRESTA_Set_impl %s", spec);
    for (int i = 0; i < 3 * 9; i++)
        send[i] = value(rank, i / 3, 1, i % 3);
    for (int round = 0; round < 2; round++) {
        CRESTA_Neighbor_alltoall(send, 3, MPI_INT, recv, 3, MPI_INT, comm);
        check_blocks(&g, recv, false);
        CRESTA_Neighbor_allgather(send, 3, MPI_INT, recv, 3, MPI_INT, comm);
        check_blocks(&g, recv, true);
    }
    MPI_Comm_free(&comm);
    graph_free(&g);
}

static void try_without(const char *impl)
{
    int value = 1, got = 0, class = MPI_SUCCESS;
    MPI_Comm comm;
    snprintf(testing_label, sizeof testing_label, "no topology");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); /* Open MPI calls this one */
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    choose(comm, impl);
    const int rc = CRESTA_Neighbor_alltoall(&value, 1, MPI_INT, &got, 1, MPI_INT, comm);
    if (rc != MPI_SUCCESS)
        MPI_Error_class(rc, &class);
    CHECK(class != MPI_SUCCESS, "no error");
    MPI_Comm_free(&comm);
}

static void run(const char *impl)
{
    try_graphs(impl);
    try_one_way(impl);
    try_told(impl);
    try_rows(impl);
    try_begun(impl);
    try_without(impl);
}

int main(int argc, char **argv)
{
    testing_watchdog(60);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    testing_rank = rank;
    testing_each(argc > 1 ? argv[1] : "p2p", argc > 2 ? try_stencil : run);
    MPI_Finalize();
    return testing_end("neighbors");
}
