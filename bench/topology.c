/* SPDX-License-Identifier: BSD-3-Clause */
/* topology.c - communicators for neighbourhood collectives. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

#include "crestacoll.h"
#include "peer_lists.h"

static MPI_Comm make_torus(int ndims)
{
    int size, dims[PEER_DIMS] = {0}, periods[PEER_DIMS] = {1, 1, 1, 1};
    MPI_Comm made;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, ndims, dims);
    MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, 0, &made);
    return made;
}

/* MPI_UNWEIGHTED is an address of which compilers warn: there are weights, which nobody reads. */
static MPI_Comm make_stencil(int ndims)
{
    int rank, size, dims[PEER_DIMS] = {0}, in[PEER_OFFSETS], out[PEER_OFFSETS];
    const int weights[PEER_OFFSETS] = {0};
    MPI_Comm made;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, ndims, dims);
    const int n = peer_list_around(dims, ndims, rank, -1, in);
    peer_list_around(dims, ndims, rank, 1, out);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, n, in, weights, n, out, weights, MPI_INFO_NULL,
                                   0, &made);
    return made;
}

static MPI_Comm make_random(int degree)
{
    int rank, size, sources = 0, targets[PEER_TARGETS] = {0}, theirs[PEER_TARGETS];
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int *in = calloc((size_t)size * PEER_TARGETS, sizeof *in);
    int *weights = calloc((size_t)size * PEER_TARGETS, sizeof *weights);
    for (int from = 0; in != NULL && size > 1 && from < size; from++) {
        peer_list_random(from, size, degree, theirs);
        for (int i = 0; i < degree; i++)
            if (theirs[i] == rank)
                in[sources++] = from;
        if (from == rank)
            memcpy(targets, theirs, sizeof targets);
    }
    if (in != NULL && weights != NULL)
        MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, sources, in, weights, size > 1 ? degree : 0,
                                       targets, weights, MPI_INFO_NULL, 0, &made);
    free(in);
    free(weights);
    return made;
}

MPI_Comm bench_topology_make(const char *topology)
{
    MPI_Comm made = MPI_COMM_NULL;
    const char *colon = topology != NULL ? strchr(topology, ':') : NULL;
    const int n = colon != NULL ? atoi(colon + 1) : 0;
    if (topology == NULL)
        MPI_Comm_dup(MPI_COMM_WORLD, &made);
    else if (strncmp(topology, "torus:", 6) == 0 && n >= 1 && n <= PEER_DIMS)
        made = make_torus(n);
    else if (strncmp(topology, "stencil:", 8) == 0 && n >= 2 && n <= PEER_DIMS)
        made = make_stencil(n);
    else if (strncmp(topology, "random:", 7) == 0 && n >= 1 && n <= PEER_TARGETS)
        made = make_random(n);
    return made;
}

static void count_neighbours(struct bench_world *w)
{
    int kind, ndims, weighted;
    MPI_Topo_test(w->near, &kind);
    if (kind == MPI_CART) {
        MPI_Cartdim_get(w->near, &ndims);
        w->in = w->out = 2 * ndims;
    } else {
        MPI_Dist_graph_neighbors_count(w->near, &w->in, &w->out, &weighted);
    }
    w->degree = w->in > w->out ? w->in : w->out;
    MPI_Allreduce(MPI_IN_PLACE, &w->degree, 1, MPI_INT, MPI_MAX, w->control);
}

const char *bench_topology_open(struct bench_world *w, const char *topology)
{
    w->near = MPI_COMM_NULL;
    if (topology == NULL)
        return NULL;
    w->near = bench_topology_make(topology);
    if (w->near == MPI_COMM_NULL)
        return "--topology takes torus:1 to torus:4, stencil:2 to stencil:4, random:1 to random:64";
    count_neighbours(w);
    CRESTA_Set_impl(w->near, "neighbor_*=p2p:linear");
    return NULL;
}

void bench_topology_close(struct bench_world *w)
{
    if (w->near != MPI_COMM_NULL)
        MPI_Comm_free(&w->near);
}
