/* SPDX-License-Identifier: BSD-3-Clause */
/* cresta_sp_coll.h - collectives in two phases: begin, compute, end.
 *
 *     MPI_Request request;
 *     CRESTA_Alltoall_begin(send, n, MPI_DOUBLE, recv, n, MPI_DOUBLE, comm, &request);
 *     ... work that needs neither buffer ...
 *     CRESTA_Coll_end(1, &request);
 *
 * CRESTA_x_begin has the arguments of MPI_Ix, with the same meaning and the same errors, in the
 * communicator's error handler.  It neither waits nor communicates with all ranks; like all
 * collectives on one communicator, those that begin there do so in the same order on all ranks.
 * Until the end
 *   - the receive buffer belongs to the library, and so does the send buffer, unless
 *     CRESTA_PROTECTED_BUFFER=1 or -D_PROTECTED_BUFFER at build time says that the send buffer may
 *     be written at once (the library copies it; not what is in place, nor the buffer of a bcast);
 *   - arrays of counts, displacements and datatypes may be changed or freed, datatypes and the
 *     communicator freed.
 *
 * The request is an MPI_Request like any other: CRESTA_Coll_end, CRESTA_Coll_test, MPI_Wait*,
 * MPI_Test* complete it, in any order and mixed with others.  It can be neither cancelled nor freed
 * (MPI 4.0, section 6.12).
 *
 * Source: CRESTA deliverable D4.5.3, "Non-Blocking Collectives Runtime Library", 2013, section 4.3.
 */
#ifndef CRESTA_SP_COLL_H
#define CRESTA_SP_COLL_H

#include "crestacoll.h"

#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

#include "cresta_sp_coll_proto.h"

/* Completes all of `count` requests, and sets each to MPI_REQUEST_NULL; other requests may be among
 * them.  There are no statuses.  Lets other processes have the core while it waits.
 * Errors: those of MPI_Waitall. */
int CRESTA_Coll_end(int count, MPI_Request requests[]);

/* Says in *flag whether all of `count` requests are complete; if so, they become MPI_REQUEST_NULL.
 * Otherwise none of them changes.
 * Errors: those of MPI_Testall. */
int CRESTA_Coll_test(int count, MPI_Request requests[], int *flag);

/* Moves what is under way along, and returns at once: for long computations, now and then. */
int CRESTA_Progress(void);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
