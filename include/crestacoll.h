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

/* Makes the memory for one-sided implementations (os, caf) of collectives on `comm` now, and keeps
 * it: no call has to make its own.  Collective over `comm`; a good place is right after MPI_Init.
 *
 * The sizes are those of CRESTA_OS_WINDOW and CRESTA_CAF_BUFFER, or of the build
 * (-DTMP_OS_WIN_SIZE, -DTMP_COARRAY_SIZE).  A user who asks for dynamic memory there gets it all
 * the same.  Where no rule names such an implementation, nothing is made yet.  Does nothing for an
 * intercommunicator. Source: CRESTA D4.5.3, section 4.2 and annex A. */
int CRESTA_Win_init(MPI_Comm comm);

/* Gives back what CRESTA_Win_init made, for all communicators.  Collective over those; not needed
 * before MPI_Finalize, which does it too. */
int CRESTA_Win_finalize(void);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
