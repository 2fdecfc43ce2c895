/* SPDX-License-Identifier: BSD-3-Clause */
/* streaming.h - streaming completion: what begins of the MPI's own calls leave for CRESTA_Coll_some
 * (progress/partial_request.h). */
#ifndef CCO_STREAMING_H
#define CCO_STREAMING_H

#include "call/collectives.h"
#include "mpi/mpi_compat.h"

/* The MPI's own non-blocking call of a begin has returned `rc`: notes the blocks that it receives,
 * if it receives several.  Returns `rc`, or the class of an error that comes up here. */
int cco_streaming(int rc, cco_coll coll, int root, MPI_Comm comm, MPI_Request *request);

/* Requests end. */
void cco_streaming_over(int count, const MPI_Request requests[]);

#endif
