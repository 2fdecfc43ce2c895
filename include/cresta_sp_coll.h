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

/* Streaming completion: returns the blocks that have come while others are still on their way, as
 * MPI_Waitsome does for requests.
 *
 *     while (CRESTA_Coll_some(request, size, blocks, &n) == MPI_SUCCESS && n != MPI_UNDEFINED)
 *         for (int i = 0; i < n; i++)
 *             unpack(blocks[i]);
 *     CRESTA_Coll_end(1, &request);
 *
 * `request` is of CRESTA_x_begin for an alltoall(v)(w), allgather(v) or gather(v), or one of their
 * `_c` forms, or a neighbourhood collective.  A block is what comes from one rank: block i of the
 * receive buffer has the data of rank i (of the remote group, on an intercommunicator), and for
 * neighbourhoods those of the i-th neighbour that this rank receives from; i counts from 0, in
 * Fortran too.  Each block is returned exactly once, in the order in which they come.
 *
 * Gets at most `maxblocks` numbers into blocks[], and how many these are into *n.  CRESTA_Coll_some
 * waits until there is at least one that was not returned yet; CRESTA_Coll_testsome does not wait,
 * and sets *n to 0 if there is none.  MPI_UNDEFINED in *n: all blocks have been returned.  It is
 * that at once where a rank receives none: on other ranks than the root of a gather, on a rank
 * without incoming edges, and for MPI_REQUEST_NULL.
 *
 * - A block that was returned may be read, and holds what it will hold at the end.  It may be
 *   written only after the end: others may still be sent from it.
 * - The block of this rank itself is returned like the others, also with MPI_IN_PLACE; so are
 *   blocks without data, and neighbours that are MPI_PROC_NULL, whose blocks stay untouched.  These
 *   are there first, but may be returned after others, when messages are under way
 *   (docs/split-phase.md).
 * - When blocks come depends on the implementation (docs/split-phase.md).  Where it shows
 *   nothing before the end, as the MPI's own non-blocking call, all come together then.
 * - The request stays: complete it with CRESTA_Coll_end or MPI_Wait, whether or not all blocks were
 *   returned; if it is completed first, it is MPI_REQUEST_NULL.
 * - One thread at a time may use a request.  While it waits, others get the core.
 *
 * If the operation fails, its error class is returned, and *n is MPI_UNDEFINED; the error handler
 * is called when the request is completed.
 * Errors: MPI_ERR_REQUEST if nothing like that began with `request` (a persistent collective,
 * active or not, is nothing like that); MPI_ERR_ARG for maxblocks < 1.  They go to the error
 * handler of MPI_COMM_SELF.
 * Source: MPI Forum, proposals for MPI 3 on the completion of neighbourhood collectives
 * (MPI_Cwaitany), as presented by S. Kumar with T. Hoefler, 2010. */
int CRESTA_Coll_some(MPI_Request request, int maxblocks, int blocks[], int *n);
int CRESTA_Coll_testsome(MPI_Request request, int maxblocks, int blocks[], int *n);

/* Moves what is under way along, and returns at once: for long computations, now and then. */
int CRESTA_Progress(void);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
