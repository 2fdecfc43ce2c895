/* SPDX-License-Identifier: BSD-3-Clause */
/* calls.h - every call of the MPI that communicates, waits or works long, counted and timed: which
 * function, from where in the program, between ranks of one node or of several, how many bytes, and
 * how long.
 *
 * This room is a library of its own, libcrestacoll-calls.so, which is preloaded ahead of crestacoll
 * where a profile is asked for: it counts from when it is loaded.  Programs without a profile do
 * not have it.  It defines MPI_x and the Fortran names (calls/wrappers.c, calls/fortran.c;
 * generated), and goes on to what comes next by that name: crestacoll's, a tool's, or the MPI's
 * own.  It changes no argument and sends nothing. What it knows becomes a member of the profile
 * (profile/profile_merge.h).
 *
 * A thread counts in a table of its own: no lock, no memory from the heap, no system call.  A call
 * that comes from within another one (an MPI or a library that uses public names, the C name that a
 * Fortran name leads to) is part of that. */
#ifndef CCO_CALLS_H
#define CCO_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "mpi/mpi_compat.h"

/* The functions, MPI_x and MPI_x_c as one. */
typedef enum cco_calls_function {
#define CCO_CALLS_FUNCTION(name, part) CCO_CALLS_##name,
#include "calls/functions.inc"
#undef CCO_CALLS_FUNCTION
    CCO_CALLS_FUNCTIONS
} cco_calls_function;

/* What a wait or test is for: requests of the kind that most programs have, or others. */
typedef enum cco_calls_of {
    CCO_CALLS_OF_MESSAGES,
    CCO_CALLS_OF_COLLECTIVES,
    CCO_CALLS_OF_IO,
    CCO_CALLS_OF_RMA,
    CCO_CALLS_OF_COMMUNICATORS,
    CCO_CALLS_OF_SEVERAL, /* of more than one kind */
    CCO_CALLS_OFS
} cco_calls_of;

/* Where the other side of a message is. */
typedef enum cco_calls_distance {
    CCO_CALLS_NO_PEER, /* the function has none */
    CCO_CALLS_ON_NODE,
    CCO_CALLS_BETWEEN_NODES,
    CCO_CALLS_NOT_KNOWN, /* MPI_ANY_SOURCE, windows */
    CCO_CALLS_DISTANCES
} cco_calls_distance;

/* Reached without asking the loader where they are; and in the room that it keeps for libraries. */
#define CCO_CALLS_HIDDEN __attribute__((visibility("hidden")))
#define CCO_CALLS_OWN CCO_CALLS_HIDDEN __attribute__((tls_model("initial-exec")))

/* MPI_x of each function, and which part of the MPI it is
 * (python/crestacoll_tools/profile/mpitime.py). */
extern const char *const cco_calls_names[] CCO_CALLS_HIDDEN;
extern const char *const cco_calls_parts[] CCO_CALLS_HIDDEN;

#endif
