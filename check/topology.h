/* SPDX-License-Identifier: BSD-3-Clause */
/* topology.h - communicators with a topology, from and to graphs. */
#ifndef CHECK_TOPOLOGY_H
#define CHECK_TOPOLOGY_H

#include <mpi.h>

#include "graphs.h"

/* A communicator of the ranks of `comm`, in their order, with the neighbours of a graph, which has
 * as many ranks.  Collective; a graph without GRAPH_NOBODY, but for grids. */
MPI_Comm topology_make(MPI_Comm comm, const struct graph *g);

/* The graph of a communicator with a directed one, as the MPI tells it to each rank.  Collective.
 */
void topology_ask(MPI_Comm comm, struct graph *g);

#endif
