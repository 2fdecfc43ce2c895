/* SPDX-License-Identifier: BSD-3-Clause */
/* degrees.c - see degrees.h. */
#include "call/degrees.h"

int cco_topology_kind(MPI_Comm comm)
{
    int kind = MPI_UNDEFINED;
    return PMPI_Topo_test(comm, &kind) == MPI_SUCCESS ? kind : MPI_UNDEFINED;
}

cco_degrees cco_degrees_of(MPI_Comm comm)
{
    cco_degrees d = {0, 0};
    int n = 0, rank = 0, weighted;
    switch (cco_topology_kind(comm)) {
    case MPI_CART:
        PMPI_Cartdim_get(comm, &n);
        return (cco_degrees){2 * n, 2 * n};
    case MPI_GRAPH:
        PMPI_Comm_rank(comm, &rank);
        PMPI_Graph_neighbors_count(comm, rank, &n);
        return (cco_degrees){n, n};
    case MPI_DIST_GRAPH:
        PMPI_Dist_graph_neighbors_count(comm, &d.in, &d.out, &weighted);
        return d;
    default:
        return d;
    }
}
