/* SPDX-License-Identifier: BSD-3-Clause */
/* topology.c - see topology.h. */
#include "topology.h"

#include <stdlib.h>
#include <string.h>

/* MPI_Graph_create takes the lists of all ranks, and where each ends. */
static MPI_Comm listed(MPI_Comm comm, const struct graph *g)
{
    int edges = 0, *ends = malloc((size_t)g->size * sizeof *ends), *peers;
    MPI_Comm made = MPI_COMM_NULL;
    for (int i = 0; i < g->size; i++)
        edges += g->out[i].count;
    peers = malloc((size_t)(edges + 1) * sizeof *peers);
    for (int i = 0, at = 0; i < g->size; i++) {
        for (int k = 0; k < g->out[i].count; k++)
            peers[at++] = g->out[i].peer[k];
        ends[i] = at;
    }
    MPI_Graph_create(comm, g->size, ends, peers, 0, &made);
    free(ends);
    free(peers);
    return made;
}

static void add_all(struct graph_ends *ends, const int *peers, int n)
{
    for (int i = 0; i < n; i++)
        graph_add(ends, peers[i] == MPI_PROC_NULL ? GRAPH_NOBODY : peers[i]);
}

void topology_ask(MPI_Comm comm, struct graph *g)
{
    enum { MOST = 256 };
    int in[MOST], out[MOST], weights[MOST], counts[2] = {0, 0}, weighted, rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Dist_graph_neighbors_count(comm, &counts[0], &counts[1], &weighted);
    if (counts[0] > MOST || counts[1] > MOST)
        MPI_Abort(comm, 1);
    MPI_Dist_graph_neighbors(comm, counts[0], in, weights, counts[1], out, weights);
    graph_begin(g, GRAPH_DIRECTED, size);
    for (int r = 0; r < size; r++) {
        int theirs[2 * MOST], n[2] = {counts[0], counts[1]};
        memcpy(theirs, in, sizeof in);
        memcpy(theirs + MOST, out, sizeof out);
        PMPI_Bcast(n, 2, MPI_INT, r, comm);
        PMPI_Bcast(theirs, 2 * MOST, MPI_INT, r, comm);
        add_all(&g->in[r], theirs, n[0]);
        add_all(&g->out[r], theirs + MOST, n[1]);
    }
    graph_match(g);
}

/* Open MPI's header makes gcc believe that it reads what MPI_UNWEIGHTED points to. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wstringop-overread"
#endif

MPI_Comm topology_make(MPI_Comm comm, const struct graph *g)
{
    int rank;
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Comm_rank(comm, &rank);
    if (g->kind == GRAPH_CART)
        MPI_Cart_create(comm, g->ndims, g->dims, g->periods, 0, &made);
    else if (g->kind == GRAPH_LISTED)
        made = listed(comm, g);
    else
        MPI_Dist_graph_create_adjacent(comm, g->in[rank].count, g->in[rank].peer, MPI_UNWEIGHTED,
                                       g->out[rank].count, g->out[rank].peer, MPI_UNWEIGHTED,
                                       MPI_INFO_NULL, 0, &made);
    return made;
}
