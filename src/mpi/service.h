/* SPDX-License-Identifier: BSD-3-Clause */
/* service.h - collectives of the library's own: what the ranks of a communicator agree on, or tell
 * each other, in set-up and between calls.
 *
 * They never meet what the program sends.  For every communicator whose ranks are in MPI_COMM_WORLD
 * they are messages on a tree, on one private copy of that, and carry the communicator's name.  On
 * any other (of sessions; of several worlds) they are the MPI's non-blocking collectives there.
 *
 * All of them are collective over `comm`, an intracommunicator.  They return MPI_SUCCESS or an MPI
 * error class.  A wait ends with an error when the process that it waits for has ended, or has left
 * because of a failure, or the program has revoked the communicator. */
#ifndef CCO_SERVICE_H
#define CCO_SERVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mpi/mpi_compat.h"
#include "base/watch.h"

/* In MPI_Init, on all ranks or on none: makes the private copy.  `many_threads`: on some rank,
 * several threads may call the MPI at once.  The end is collective, too. */
void cco_service_begin(bool many_threads);
void cco_service_end(void);

/* Names a communicator by a number that its rank 0 gave to no other one, as its ranks have agreed.
 * Does nothing if it has a name, or ranks of another world. */
void cco_service_name(MPI_Comm comm, uint64_t number);

/* cco_comm_dup_bare, where the program sends nothing if `comm` has a name, and its error handler is
 * not called.  On the copy errors are returned. */
int cco_service_copy(MPI_Comm comm, MPI_Comm *made);

/* From rank 0 to all. */
int cco_service_bcast(void *data, size_t bytes, MPI_Comm comm);

/* `mine` may be MPI_IN_PLACE; `op` is commutative and predefined. */
int cco_service_allreduce(const void *mine, void *all, int count, MPI_Datatype type, MPI_Op op,
                          MPI_Comm comm);

/* cco_service_allreduce that calls late(what) once, on each rank that has waited for another one
 * for so many seconds: for one below it in the tree, or above, which waits for others itself. */
enum { CCO_PATIENCE = 10 /* seconds */ };
typedef struct cco_patience {
    int below, above;
    void (*late)(void *what);
    void *what;
} cco_patience;
int cco_service_allreduce_patiently(const void *mine, void *all, int count, MPI_Datatype type,
                                    MPI_Op op, MPI_Comm comm, const cco_patience *patience);

/* Returns when all ranks of MPI_COMM_WORLD have come here, before anything else happens.  Ranks
 * without the library do not: the messages have a tag of their own on MPI_COMM_WORLD, where those
 * that nobody takes do no harm, unless to a receive with MPI_ANY_TAG. */
void cco_service_meet(const cco_patience *patience);

/* How data of ranks become one on the way to rank 0, and what comes back. */
typedef struct cco_merger {
    const void *(*give)(void *what, size_t *bytes);       /* this rank's, and of those below it */
    bool (*take)(void *what, void *theirs, size_t bytes); /* false: they are of another kind */
    void *what;
    /* To those whose data were taken, the last first; NULL: nothing comes back. */
    const void *(*answer)(void *what, size_t *bytes);
    bool (*hear)(void *what, void *theirs, size_t bytes); /* false as above */
} cco_merger;

/* Merges the data of all ranks of a communicator of the library's own.  True on rank 0, which has
 * them then, without those of ranks that have ended. */
bool cco_service_merge(const cco_merger *merge, MPI_Comm comm);

/* The tree of `count` places: which is above a place (-1 for the first one), then those below it,
 * the farthest first.  Returns how many these are together. */
enum { CCO_TREE_MOST = 32 };
int cco_service_tree(int place, int count, int next[CCO_TREE_MOST]);

/* Some ranks of a communicator, which meet without the others: where it has a name, or messages of
 * it have a way. */
typedef struct cco_company {
    MPI_Comm comm;
    const int *ranks; /* the same list on all of them; NULL: all of `comm` */
    int count, place; /* how many, and this rank's place among them */
} cco_company;

/* From the first of them to all. */
int cco_service_bcast_among(void *data, size_t bytes, const cco_company *company);

/* Reduces `all` of each of them. */
int cco_service_allreduce_among(void *all, int count, MPI_Datatype type, MPI_Op op,
                                const cco_company *company);

/* Returns true on all of them if `mine` is true on each, and false where the wait failed. */
bool cco_service_all_among(bool mine, const cco_company *company);

/* Sets the watch that gets the failures of these operations on a communicator. */
void cco_service_watch(MPI_Comm comm, cco_watch *watch);

/* Where messages pass that have no name to carry: a communicator of the library, with the same
 * ranks in the same order, and a tag there that nothing else has.  All ranks together. */
void cco_service_pass(MPI_Comm comm, MPI_Comm via, int tag);

/* Neither is there any more. */
void cco_service_forget(MPI_Comm comm);

/* The program frees it: MPICH loses the error of its delete function if an attribute is deleted
 * after it.  If it is there afterwards, it gets a name in its next set-up. */
void cco_service_end_name(MPI_Comm comm);

/* This rank takes no further part on a communicator because of an error, which later ones there
 * return: those who wait for it find that out. */
void cco_service_leave(MPI_Comm comm, int class);

/* `bytes` of each rank, in the order of the ranks. */
int cco_service_allgather(const void *mine, void *all, size_t bytes, MPI_Comm comm);

int cco_service_barrier(MPI_Comm comm);

/* Begins to find the largest of each number, on a communicator of the library's own, where nothing
 * else is under way; for what may not wait. */
int cco_service_start_max(const int64_t *mine, int64_t *most, int count, MPI_Comm copy,
                          MPI_Request *request);

/* True on all ranks if it is on each of them; false if the MPI fails. */
bool cco_service_all(bool mine, MPI_Comm comm);

#endif
