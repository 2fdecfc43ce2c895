/* SPDX-License-Identifier: BSD-3-Clause */
/* degrees.h - how many neighbors a rank has in the topology of its communicator. */
#ifndef CCO_DEGREES_H
#define CCO_DEGREES_H

#include "mpi/mpi_compat.h"

/* How many blocks a rank gets, and gives: edges that end and begin at it. */
typedef struct cco_degrees {
    int in, out;
} cco_degrees;

/* MPI_CART, MPI_GRAPH, MPI_DIST_GRAPH, or MPI_UNDEFINED. */
int cco_topology_kind(MPI_Comm comm);

/* This rank's; 0 where there is no topology.  Without communication. */
cco_degrees cco_degrees_of(MPI_Comm comm);

#endif
