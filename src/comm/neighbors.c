/* SPDX-License-Identifier: BSD-3-Clause */
/* neighbors.c - see neighbors.h. */
#include "comm/neighbors.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"

static void ask_graph(MPI_Comm comm, int n, int *peers)
{
    int rank;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Graph_neighbors(comm, rank, n, peers);
}

/* MPI_UNWEIGHTED is none here: the lists may have weights, which are not wanted. */
static void ask_dist_graph(MPI_Comm comm, cco_degrees d, int *in, int *out)
{
    int *weights = malloc(((size_t)d.in + (size_t)d.out + 1) * sizeof *weights);
    if (weights == NULL)
        cco_fatal("no memory for the neighbours of a communicator");
    PMPI_Dist_graph_neighbors(comm, d.in, in, weights, d.out, out, weights + d.in);
    free(weights);
}

static void name_nobody(int *peers, int n)
{
    for (int i = 0; i < n; i++)
        if (peers[i] == MPI_PROC_NULL)
            peers[i] = CCO_NO_PEER;
}

cco_neighbors *cco_neighbors_of(MPI_Comm comm)
{
    const int kind = cco_topology_kind(comm);
    const cco_degrees d = cco_degrees_of(comm);
    if (kind == MPI_UNDEFINED)
        return NULL;
    cco_neighbors *near = malloc(sizeof *near + ((size_t)d.in + (size_t)d.out) * sizeof(int));
    if (near == NULL) /* to go on without them on one rank would hang the others */
        cco_fatal("no memory for the neighbours of a communicator");
    int *in = (int *)(near + 1), *out = in + d.in;
    *near = (cco_neighbors){
        .degrees = d, .grid = kind == MPI_CART, .in = in, .out = out, .users = 1};
    if (kind == MPI_DIST_GRAPH)
        ask_dist_graph(comm, d, in, out);
    if (kind == MPI_GRAPH)
        ask_graph(comm, d.in, in);
    for (int i = 0; kind == MPI_CART && i < d.in; i += 2)
        PMPI_Cart_shift(comm, i / 2, 1, &in[i], &in[i + 1]);
    name_nobody(in, d.in);
    if (kind == MPI_DIST_GRAPH)
        name_nobody(out, d.out);
    else
        memcpy(out, in, (size_t)d.in * sizeof *in);
    return near;
}

const cco_neighbors *cco_neighbors_keep(const cco_neighbors *near)
{
    if (near != NULL)
        __atomic_add_fetch(&((cco_neighbors *)(uintptr_t)near)->users, 1, __ATOMIC_RELAXED);
    return near;
}

void cco_neighbors_drop(const cco_neighbors *near)
{
    cco_neighbors *it = (cco_neighbors *)(uintptr_t)near;
    if (it == NULL || __atomic_sub_fetch(&it->users, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    free(it->stencil);
    free(it->mates);
    free(it);
}

static int neighbors_by_rank(const void *a, const void *b)
{
    const int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

static bool has_equal(const int *peers, int n)
{
    bool found = false;
    int *sorted = malloc((size_t)n * sizeof *sorted + 1);
    if (sorted == NULL)
        cco_fatal("no memory for the neighbours of a communicator");
    memcpy(sorted, peers, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, neighbors_by_rank);
    for (int i = 1; i < n && !found; i++)
        found = sorted[i] == sorted[i - 1] && sorted[i] != CCO_NO_PEER;
    free(sorted);
    return found;
}

bool cco_neighbors_repeat(const cco_neighbors *near)
{
    return has_equal(near->out, near->degrees.out) || has_equal(near->in, near->degrees.in);
}

static int neighbors_count_it(const int *peers, int n, int rank)
{
    int found = 0;
    for (int i = 0; i < n; i++)
        found += peers[i] == rank;
    return found;
}

/* The edges of `peer` to `rank`. */
static int edges_back(MPI_Comm comm, int peer, int rank)
{
    int n = 0;
    PMPI_Graph_neighbors_count(comm, peer, &n);
    int *peers = malloc((size_t)n * sizeof *peers + 1);
    if (peers == NULL)
        cco_fatal("no memory for the neighbours of a communicator");
    PMPI_Graph_neighbors(comm, peer, n, peers);
    const int found = neighbors_count_it(peers, n, rank);
    free(peers);
    return found;
}

bool cco_neighbors_one_sided(MPI_Comm comm, const cco_neighbors *near, int rank)
{
    const int n = near->degrees.out;
    bool found = false;
    if (cco_topology_kind(comm) != MPI_GRAPH)
        return false;
    for (int i = 0; i < n && !found; i++)
        found = near->out[i] != CCO_NO_PEER && edges_back(comm, near->out[i], rank) !=
                                                   neighbors_count_it(near->out, n, near->out[i]);
    return found;
}
