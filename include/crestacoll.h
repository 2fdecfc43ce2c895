/* SPDX-License-Identifier: BSD-3-Clause */
/* crestacoll.h - drop-in MPI collectives with a choice of implementations.
 *
 * Change the prefix MPI_ of a collective to CRESTA_ and keep its arguments: same meaning, same
 * result, same errors, through the communicator's error handler.  Rules decide which implementation
 * runs: built in, set by the program (CRESTA_Set_impl) or by the user (environment variable
 * CRESTA_IMPL), in rising order of precedence.  Every function returns MPI_SUCCESS or an MPI error
 * class.
 *
 * Source: CRESTA deliverable D4.5.3, "Non-Blocking Collectives Runtime Library", 2013.
 */
#ifndef CRESTACOLL_H
#define CRESTACOLL_H

#include <mpi.h>

#define CRESTA_VERSION_MAJOR 0
#define CRESTA_VERSION_MINOR 1
#define CRESTA_VERSION_PATCH 0

/* CRESTA_HAVE_PERSISTENT: this MPI has persistent collectives (as MPIX_ in Open MPI 4, which calls
 * for mpi-ext.h). CRESTA_HAVE_LARGE_COUNT: it has the `_c` calls, whose counts are MPI_Count
 * (MPI 4.0, section 2.5.8). */
#if MPI_VERSION >= 4
#define CRESTA_HAVE_PERSISTENT 1
#define CRESTA_HAVE_LARGE_COUNT 1
#elif defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5
#define CRESTA_HAVE_PERSISTENT 1
#elif defined(OPEN_MPI)
#include <mpi-ext.h>
#if defined(OMPI_HAVE_MPI_EXT_PCOLLREQ) && OMPI_HAVE_MPI_EXT_PCOLLREQ
#define CRESTA_HAVE_PERSISTENT 1
#define CRESTA_PERSISTENT_MPIX 1
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* What has been recorded, to be replayed: below. */
typedef int CRESTA_Recording;
#define CRESTA_RECORDING_NULL 0

/* The collectives: CRESTA_x, CRESTA_Ix, CRESTA_x_init and their `_c` forms. */
#include "crestacoll_proto.h"

/* Chooses implementations for the calls on `comm` that follow.
 *
 * comm  an intracommunicator; the call is collective over it
 * spec  rules, such as "alltoall[4K-1M]=nonblock,*=mpi" (grammar: docs/choosing.md); equal on all
 * ranks. Replaces what an earlier call said for this communicator; "" takes it back.  Duplicates do
 * not inherit it.
 *
 * The user's CRESTA_IMPL goes before these rules, the built-in choice after them.
 * Errors: MPI_ERR_ARG (on every rank, with one message on stderr) for a spec that is wrong or
 * differs between ranks, MPI_ERR_COMM for an intercommunicator; the choice is then unchanged. */
int CRESTA_Set_impl(MPI_Comm comm, const char *spec);

/* Makes everything crestacoll keeps about `comm` now, instead of in its first blocking collective.
 * Collective over `comm`; good before a timed region or where a program uses only non-blocking
 * collectives.  Does nothing for an intercommunicator. */
int CRESTA_Comm_prepare(MPI_Comm comm);

/* After a process has failed: `*newcomm` becomes a communicator of the ranks of `comm` that are
 * left, in their order, with its name and error handler, prepared for collectives.  Collective over
 * these ranks.  Revokes `comm` first, so that ranks which still wait there get MPIX_ERR_REVOKED and
 * come too; then acknowledges the failures, shrinks and agrees (ULFM), once more for each process
 * that fails meanwhile.  `comm` is left to the caller to free.
 *
 * Errors: MPI_ERR_UNSUPPORTED_OPERATION, with one message, where the MPI cannot go on after a
 * failure: that takes Open MPI 5 and `mpirun --with-ft ulfm`; MPI_ERR_COMM for an
 * intercommunicator.  `*newcomm` is MPI_COMM_NULL then. */
int CRESTA_Comm_repair(MPI_Comm comm, MPI_Comm *newcomm);

/* Memory for buffers that the ranks of `comm` share where they are on one node.  In collectives on
 * `comm` that model shm runs, large data that lie there are read by other ranks without a copy in
 * between; a rank that gives such data returns when they have been read.
 *
 * bytes    wanted on this rank; every rank gets room for the largest wish of all
 * comm     an intracommunicator; the call is collective over it
 * baseptr  address of a pointer, which gets the memory: zero, aligned to a page
 *
 * Memory as of MPI_Alloc_mem where the ranks share none.  It outlives the communicator.
 * Errors: MPI_ERR_COMM for an intercommunicator, MPI_ERR_ARG for less than 0 bytes or no pointer,
 * MPI_ERR_NO_MEM. */
int CRESTA_Alloc_mem(MPI_Aint bytes, MPI_Comm comm, void *baseptr);

/* Gives such memory back, by the address that CRESTA_Alloc_mem gave.  All ranks of the communicator
 * free their part before any of them asks for new memory on it, or uses another rank's part.
 * Errors: MPI_ERR_BASE, on MPI_COMM_WORLD, for any other address. */
int CRESTA_Free_mem(void *base);

/* The sum of an array that is distributed over the ranks of `comm`, with the same bits on any
 * number of ranks, in whatever order and parts they have its numbers.
 *
 * x       the numbers of this rank, `n` of them; not read if n is 0
 * result  gets, on every rank, the exact sum of the numbers of all ranks, rounded once to nearest,
 *         ties to even
 * comm    an intracommunicator; the call is collective over it
 *
 * What overflows in between does not matter.  A NaN, or infinities of both signs, give a NaN
 * (always the same), other infinities themselves.  A zero is +0, but -0 where all numbers are -0;
 * +0 where there are none.  The rounding mode does not tell.
 * Sources: U. Kulisch, Computer Arithmetic and Validity (2013); R. M. Neal, arXiv:1505.05571
 * (docs/methods.md).
 * Errors, on all ranks, with one message of each rank that is wrong: MPI_ERR_ARG where a rank gives
 * n < 0, or no array or result.  MPI_ERR_COMM for an intercommunicator or MPI_COMM_NULL. */
int CRESTA_Repro_sum(const double *x, MPI_Count n, double *result, MPI_Comm comm);

/* CRESTA_Repro_sum for numbers of another type, which all ranks give alike: MPI_FLOAT, MPI_DOUBLE,
 * MPI_LONG_DOUBLE (of 64 or 80 bits), the complex types of C, and those of Fortran.  The parts of
 * complex numbers are summed each for itself.  Errors: MPI_ERR_TYPE for any other type. */
int CRESTA_Repro_sum_type(const void *x, MPI_Count n, MPI_Datatype datatype, void *result,
                          MPI_Comm comm);

/* Makes the memory for one-sided implementations (os, caf) of collectives on `comm` now, and keeps
 * it: no call has to make its own.  Collective over `comm`; a good place is right after MPI_Init.
 *
 * CRESTA_OS_WINDOW and CRESTA_CAF_BUFFER set the sizes; else the build does, by
 * -DTMP_OS_WIN_SIZE and -DTMP_COARRAY_SIZE.  If either variable asks for dynamic memory, calls
 * still make their own.  Where no rule names such an implementation, nothing is made yet.  Does
 * nothing for an intercommunicator. Source: CRESTA D4.5.3, section 4.2 and annex A. */
int CRESTA_Win_init(MPI_Comm comm);

/* Gives back what CRESTA_Win_init made, for all communicators.  Collective over those; not needed
 * before MPI_Finalize, which does it too. */
int CRESTA_Win_finalize(void);

/* Record and replay: a sequence of collectives that a program makes again and again, with the same
 * arguments and other data, becomes one plan.
 *
 *     CRESTA_Recording step;
 *     CRESTA_Record_begin(comm);
 *     CRESTA_Scatter(...);            the calls run as usual, and are noted
 *     CRESTA_Allgather(...);
 *     CRESTA_Record_end(&step);
 *     for (...) {
 *         ... new data into the send buffers ...
 *         CRESTA_Replay_start(step);
 *         ... work that needs none of the buffers ...
 *         CRESTA_Replay_end(step);    the receive buffers have what the calls would have brought
 *     }
 *     CRESTA_Recording_free(&step);
 *
 * A replay moves the data that lie in the buffers of the recorded calls then.  Calls whose buffers
 * do not overlap, where one of them is written, run side by side, and their small messages between
 * two ranks become one.  Others run one after the other, in the order of the recording.  What the
 * program computed between the calls is not repeated.
 *
 * This holds for calls that model p2p, shm or hier runs.  Calls of other models, reductions with
 * operations of the program or on types with gaps, and all calls that CRESTA_Recording_info does
 * not count as merged, are made again as they are.  Reductions may round in another order than the
 * recorded call did where shm or hier runs on one node.
 *
 * A recording keeps what it needs: the arrays of counts, displacements and types may change after
 * their call, types be freed, and so may the communicator, unless calls are made again as they are.
 * The buffers must stay, and the operations of such calls. */

/* The blocking collectives that follow on `comm`, from any thread, are noted, in whatever way they
 * are called: CRESTA_x, their Fortran names, and MPI_x under the preload library.
 *
 * comm  an intracommunicator; the call is collective over it
 *
 * Meanwhile non-blocking, split-phase and persistent collectives on `comm` fail, with
 * MPI_ERR_UNSUPPORTED_OPERATION and one message, and begin nothing.  Other communicators are not
 * concerned: threads may record on several, and one thread on several within each other.
 * Errors: MPI_ERR_COMM for an intercommunicator or MPI_COMM_NULL; MPI_ERR_OTHER where a recording
 * on `comm` is under way. */
int CRESTA_Record_begin(MPI_Comm comm);

/* Ends the recording that this thread began last, and makes its plan.  Collective over its
 * communicator; recordings that ranks begin within each other end in the same order everywhere.
 *
 * recording  becomes a handle, or CRESTA_RECORDING_NULL after an error
 *
 * Errors, on all ranks, with one message: MPI_ERR_ARG where the ranks have recorded different
 * calls, MPI_ERR_OTHER where a recorded call has failed on a rank, MPI_ERR_NO_MEM.  On this rank
 * alone: MPI_ERR_OTHER where the thread has begun none, MPI_ERR_COMM where the communicator was
 * freed meanwhile. */
int CRESTA_Record_end(CRESTA_Recording *recording);

/* Starts a replay.  The buffers of the recorded calls belong to the library until its end.
 *
 * Several recordings may be under way at once, and start and end in any order, another one on each
 * rank, as long as all their calls are merged: each has tags or memory of its own.  As with the
 * split collectives of MPI-IO (MPI 4.0, section 14.4.5) all of the exchange may take place at the
 * start or at the end: in between, no rank may wait for a message of another one that comes after
 * the other's end.  With a progress thread (CRESTA_ASYNC=thread) merged calls progress meanwhile;
 * also in CRESTA_Progress, and wherever the library waits.
 * Calls that are made again as they are count as blocking collectives, at the start or at the end.
 *
 * Errors: MPI_ERR_REQUEST for a handle that is none, or whose replay is under way; MPI_ERR_COMM
 * where the communicator is needed and was freed; what the data transfer meets.  They go to the
 * error handler of the communicator, or, if that was freed, of MPI_COMM_WORLD. */
int CRESTA_Replay_start(CRESTA_Recording recording);

/* Waits for the end of a replay.  Errors: the same; MPI_ERR_REQUEST if none is under way. */
int CRESTA_Replay_end(CRESTA_Recording recording);

/* What became of a recording.  Local; pointers may be NULL.
 *
 * calls     that were recorded
 * merged    of these run in plans of ours; the others are made again as they are.  CRESTA_LOG=info
 *           says why, when the recording ends
 * parts     that run one after the other: plans, and single calls
 * recorded  messages that this rank sent in the merged calls when they were recorded, if they ran
 *           their algorithms over messages
 * replayed  messages that it sends in a replay instead
 *
 * Errors: MPI_ERR_REQUEST for a handle that is none. */
int CRESTA_Recording_info(CRESTA_Recording recording, int *calls, int *merged, int *parts,
                          int *recorded, int *replayed);

/* Frees a recording, and sets the handle to CRESTA_RECORDING_NULL.  Local.  MPI_Finalize frees
 * those that are left.
 * Errors: MPI_ERR_REQUEST for a handle that is none, or whose replay is under way. */
int CRESTA_Recording_free(CRESTA_Recording *recording);

/* Neighbourhood reductions, which no MPI has.  On a communicator with a topology each rank receives
 * the reduction of what is sent to it, element by element, in the order of its list of sources:
 * with sources a, b and c, (a op b) op c.
 *
 *     CRESTA_Neighbor_reduce(sendbuf, recvbuf, count, datatype, op, comm)
 *         as MPI_Neighbor_allgather, each rank sends one vector of `count` elements to all its
 *         destinations
 *     CRESTA_Neighbor_alltoall_reduce(sendbuf, recvbuf, count, datatype, op, comm)
 *         as MPI_Neighbor_alltoall, it sends another vector to each: block i of sendbuf, all of
 *         `count` elements, to the i-th
 *
 * The list of sources is that of MPI_Dist_graph_neighbors or MPI_Graph_neighbors, or in a grid the
 * lower and the upper neighbour in each dimension in turn.  A source that is there several times
 * counts several times, and so does the rank itself; MPI_PROC_NULL is left out.  A rank without
 * sources receives nothing: its receive buffer stays as it is.
 *
 * datatype, op  what MPI_Allreduce takes, operations of the program too, commutative or not.  `op`
 *               and, where a rank sends to another, the type signature are the same on both sides.
 * sendbuf       may be MPI_IN_PLACE in CRESTA_Neighbor_reduce, on any rank: what is sent lies in
 *               recvbuf.  Otherwise buffers must not overlap.
 *
 * They exist as CRESTA_x, CRESTA_x_begin (cresta_sp_coll.h) and CRESTA_x_init, each with _c too.
 * Rules of CRESTA_IMPL name them as the others, `neighbor_*` includes them; without a rule `p2p`
 * runs.  The first begin on a communicator waits for all its ranks; an operation of the program has
 * to stay until the end.
 * Errors: MPI_ERR_TOPOLOGY without a topology; MPI_ERR_COUNT, MPI_ERR_TYPE, MPI_ERR_OP;
 * MPI_ERR_BUFFER for MPI_IN_PLACE where it may not be.
 * Source: S. Kumar, T. Hoefler: Optimizing neighborhood collectives with multisends (MPI Forum);
 * T. Hoefler, J. L. Traff: Sparse collective operations for MPI, HIPS 2009 (MPI_Neighbor_reduce).
 *
 * CRESTA_x_init(..., &recording) is persistent: a recording of the one call, which does not run
 * meanwhile.  CRESTA_Replay_start and CRESTA_Replay_end start and complete it, as often as you
 * like, CRESTA_Recording_free frees it.  (MPI_Start cannot carry it: it starts requests of the MPI
 * alone.)  Collective; the buffers must stay, and an operation of the program too.  Errors: those
 * above and of CRESTA_Record_end. */

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
