/* SPDX-License-Identifier: BSD-3-Clause */
/* neighbor_reduce.h - neighborhood reductions by calls that the MPI has: MPI_Neighbor_allgather or
 * MPI_Neighbor_alltoall to memory of ours, then MPI_Reduce_local in the order of the sources. */
#ifndef CCO_NEIGHBOR_REDUCE_H
#define CCO_NEIGHBOR_REDUCE_H

#include "call/call.h"

/* Runs a call, with the MPI's blocking exchange, or its non-blocking one and a polite wait.  Like
 * the MPI it tells errors to the handler of the communicator. */
int cco_neighbor_reduce(const cco_call *call);
int cco_neighbor_reduce_politely(const cco_call *call);

/* What is wrong with a call, as an MPI error class; MPI_SUCCESS if it may run. */
int cco_neighbor_reduce_wrong(const cco_call *call);

#endif
