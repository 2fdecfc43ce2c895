/* SPDX-License-Identifier: BSD-3-Clause */
/* service.h - collectives of the library's own: what the ranks of a communicator agree on, or tell
 * each other, in set-up and between calls.
 *
 * They never meet what the program sends.  For every communicator whose ranks are in MPI_COMM_WORLD
 * they are messages on a tree, on one private copy of that, and carry the communicator's name.  On
 * any other (of sessions; of several worlds) they are the MPI's non-blocking collectives there, as
 * is the first agreement where several threads call the MPI at once, unless the communicator is
 * the world or a duplicate.
 *
 * All of them are collective over `comm`, an intracommunicator.  They return MPI_SUCCESS or an MPI
 * error class. */
#ifndef CCO_SERVICE_H
#define CCO_SERVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/mpi_compat.h"

/* In MPI_Init, on all ranks or on none: makes the private copy.  `many_threads`: on some rank,
 * several threads may call the MPI at once.  The end is collective, too. */
void cco_service_begin(bool many_threads);
void cco_service_end(void);

/* Names a communicator by a number that its rank 0 gave to no other one, as its ranks have agreed.
 * Does nothing if it has a name, or ranks of another world. */
void cco_service_name(MPI_Comm comm, uint64_t number);

/* cco_fresh_comm, where the program sends nothing if `comm` has a name. */
int cco_service_copy(MPI_Comm comm, MPI_Comm *made);

/* From rank 0 to all. */
int cco_service_bcast(void *data, size_t bytes, MPI_Comm comm);

/* `mine` may be MPI_IN_PLACE; `op` is commutative and predefined. */
int cco_service_allreduce(const void *mine, void *all, int count, MPI_Datatype type, MPI_Op op,
                          MPI_Comm comm);

/* cco_service_allreduce that calls late(what) once, on each rank that has waited for another one
 * for so many seconds. */
typedef struct cco_patience {
    int seconds;
    void (*late)(void *what);
    void *what;
} cco_patience;
int cco_service_allreduce_patiently(const void *mine, void *all, int count, MPI_Datatype type,
                                    MPI_Op op, MPI_Comm comm, const cco_patience *patience);

/* `bytes` of each rank, in the order of the ranks. */
int cco_service_allgather(const void *mine, void *all, size_t bytes, MPI_Comm comm);

int cco_service_barrier(MPI_Comm comm);

/* True on all ranks if it is on each of them; false if the MPI fails. */
bool cco_all(bool mine, MPI_Comm comm);

#endif
