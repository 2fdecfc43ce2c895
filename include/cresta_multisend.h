/* SPDX-License-Identifier: BSD-3-Clause */
/* cresta_multisend.h - sends to lists of ranks, without a communicator for each list.
 *
 *     CRESTA_Exchange            once, where receivers do not know who will send to them
 *     CRESTA_Exchange_begin      the same while the program does something else
 *     CRESTA_Multicast_init      one buffer to a list of ranks, again and again
 *     CRESTA_Manytomany_init     a block to each of a list of ranks, again and again
 *     CRESTA_Sneighbor_alltoall  a request for each message
 *
 * Lists have ranks of an intracommunicator, in any order, also several times and the rank itself;
 * MPI_PROC_NULL takes part in nothing.  Between two ranks messages match in the order of both
 * lists.  Messages pass on a communicator of the library: they never meet those of the program,
 * whatever their tags, nor those of other lists.
 *
 * Errors go to the error handler of the communicator.  A rank whose arguments are wrong still does
 * what others wait for, as if its lists were empty, before it says so.
 *
 * Source: S. Kumar, P. Heidelberger, D. Chen, M. Hines: Optimization of applications with
 * non-blocking neighborhood collectives via multisends on the Blue Gene/P supercomputer, IPDPS 2010
 * (DCMF_Multicast, DCMF_Manytomany). */
#ifndef CRESTA_MULTISEND_H
#define CRESTA_MULTISEND_H

#include "crestacoll.h"

#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* Sparse data exchange: each rank names the ranks to which it sends, and learns which ranks have
 * sent to it.
 *
 *     CRESTA_Exchange(buffer, counts, displs, MPI_INT, n, destinations, &sources, &elements, comm);
 *     ... room for so many sources and elements ...
 *     CRESTA_Exchange_take(received, from, recvcounts, rdispls, MPI_INT, comm);
 *
 * Block i has sendcounts[i] elements of `type`, begins sdispls[i] extents of it behind sendbuf, and
 * goes to destinations[i]; 0 elements are a message too.  All ranks of `comm` call it, with the
 * same type signature of an element; a rank may have no destinations.  *sources is the number of
 * messages that this rank has received, *elements that of their elements.
 *
 * What has come is kept with the communicator until CRESTA_Exchange_take, or until the next
 * exchange begins there.  So nothing is cut off, and no size has to be guessed.
 * CRESTA_Exchange_take is local.  It gives away the messages in the order of their
 * sources: sources[i] is the rank that sent the i-th, recvcounts[i] its elements, which begin
 * rdispls[i] elements behind recvbuf; those of one source come in the order of its list.
 *
 * Takes a number of messages of the order of those that are sent, and log2(p) short ones for each
 * rank, not p: T. Hoefler, C. Siebert, A. Lumsdaine: Scalable communication protocols for dynamic
 * sparse data exchange, PPoPP 2010 (algorithm NBX).  The first exchange on a communicator makes
 * what they need, together with the other ranks.
 * Errors: MPI_ERR_COMM for intercommunicators; MPI_ERR_RANK, MPI_ERR_COUNT, MPI_ERR_TYPE for
 * arguments; MPI_ERR_COUNT if an int cannot count what has come; MPI_ERR_OTHER of
 * CRESTA_Exchange_take if nothing is there to take, or is not whole elements of `type`. */
int CRESTA_Exchange(const void *sendbuf, const int sendcounts[], const int sdispls[],
                    MPI_Datatype type, int ndestinations, const int destinations[], int *sources,
                    int *elements, MPI_Comm comm);

/* Begins it: CRESTA_Coll_end, CRESTA_Coll_test, MPI_Wait* or MPI_Test* ends `request`, and sets
 * *sources and *elements.  Until then sendbuf must not be written; lists may be changed, the type
 * freed.  Ranks begin and call exchanges of one communicator in the same order; they run one after
 * the other.  Only the first on a communicator waits for its other ranks.
 * CRESTA_Exchange_take gives away what came in the oldest one whose request has ended and that was
 * not taken.  A begin drops what has not been taken of those whose requests have ended.
 *
 * It progresses in calls that wait and test, in CRESTA_Progress, and by the progress thread
 * (docs/split-phase.md).  The program may free the communicator before the end; then what comes is
 * counted, and dropped.
 * Errors of arguments, and of processes that fail, are those of the request: it becomes complete,
 * and the other ranks get what was sent to them.  MPI_ERR_COMM, MPI_ERR_UNSUPPORTED_OPERATION while
 * a recording is under way, and a failure that is known, are errors of the begin; then *request is
 * MPI_REQUEST_NULL. */
int CRESTA_Exchange_begin(const void *sendbuf, const int sendcounts[], const int sdispls[],
                          MPI_Datatype type, int ndestinations, const int destinations[],
                          int *sources, int *elements, MPI_Comm comm, MPI_Request *request);

int CRESTA_Exchange_take(void *recvbuf, int sources[], int recvcounts[], int rdispls[],
                         MPI_Datatype type, MPI_Comm comm);

/* A multicast or a many-to-many: made once, started again and again. */
typedef struct cresta_multisend *CRESTA_Multisend;
#define CRESTA_MULTISEND_NULL ((CRESTA_Multisend)0)

/* Makes a multicast: each start sends sendcount elements from sendbuf to every destination, and
 * receives from source i recvcounts[i] elements, which go rdispls[i] extents of `type` behind
 * recvbuf.  The lists of all ranks must fit together: a rank that names a destination is a source
 * there, as often, with as many elements.
 *
 * Collective over `comm`: all ranks call it, also with empty lists, and ranks that make several do
 * so in the same order.  Starts need no order.  Buffers must stay; lists may change or be freed.
 * Errors: those of CRESTA_Exchange; MPI_ERR_OTHER if 32766 lists of `comm` are in use. */
int CRESTA_Multicast_init(const void *sendbuf, int sendcount, int ndestinations,
                          const int destinations[], void *recvbuf, const int recvcounts[],
                          const int rdispls[], int nsources, const int sources[], MPI_Datatype type,
                          MPI_Comm comm, CRESTA_Multisend *multisend);

/* Makes a many-to-many: the same, but destination i gets sendcounts[i] elements, which lie
 * sdispls[i] extents of `type` behind sendbuf. */
int CRESTA_Manytomany_init(const void *sendbuf, const int sendcounts[], const int sdispls[],
                           int ndestinations, const int destinations[], void *recvbuf,
                           const int recvcounts[], const int rdispls[], int nsources,
                           const int sources[], MPI_Datatype type, MPI_Comm comm,
                           CRESTA_Multisend *multisend);

/* What is called when the message of source i has come: `source` is its rank, `data` where it lies
 * in the receive buffer, `context` what CRESTA_Multisend_notify got.  It runs on the program's own
 * threads, in CRESTA_Multisend_test and CRESTA_Multisend_wait of this multisend only.  It may call
 * anything but these two, CRESTA_Multisend_start and CRESTA_Multisend_free of the same one. */
typedef void CRESTA_Multisend_arrived(void *context, int i, int source, void *data);

/* From the next start on, calls `arrived` for each message, and sets flags[i] to 1 when that of
 * source i has come; each start sets them to 0.  Either may be NULL.  Messages of MPI_PROC_NULL
 * never come.
 * Error: MPI_ERR_REQUEST if it is under way. */
int CRESTA_Multisend_notify(CRESTA_Multisend multisend, CRESTA_Multisend_arrived *arrived,
                            void *context, int flags[]);

/* Starts it.  Until it is complete, the receive buffer belongs to the library, except for messages
 * whose arrival was notified, and the send buffer must not be written.  It is local: it
 * neither waits, nor must others start at the same time.
 * Error: MPI_ERR_REQUEST if it is under way already. */
int CRESTA_Multisend_start(CRESTA_Multisend multisend);

/* Completes it, or says in *flag whether it is complete: all has come, and the send buffer may be
 * written.  At once where it is not under way.  A wait gives the core to others. */
int CRESTA_Multisend_wait(CRESTA_Multisend multisend);
int CRESTA_Multisend_test(CRESTA_Multisend multisend, int *flag);

/* Frees it, and sets it to CRESTA_MULTISEND_NULL; local.  Before MPI_Finalize; it may outlive its
 * communicator.
 * Error: MPI_ERR_REQUEST if it is under way. */
int CRESTA_Multisend_free(CRESTA_Multisend *multisend);

/* MPI_Ineighbor_alltoall with a request for each message: requests[i] is of the block that comes
 * from the i-th neighbour, for i below the number of those from which this rank receives; then one
 * for each to which it sends.  All are requests of the MPI, for MPI_Wait* and MPI_Test*, and all
 * must be completed.  Blocks match as in MPI_Neighbor_alltoall.  All ranks of `comm` call it, in
 * the same order as other calls of this header there; the first waits for all ranks.
 * Errors: MPI_ERR_TOPOLOGY without a topology, as in MPI_Neighbor_alltoall.
 * Source: second option for streaming completion in the presentation named above. */
int CRESTA_Sneighbor_alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                              void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                              MPI_Request requests[]);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
