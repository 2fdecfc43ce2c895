/* SPDX-License-Identifier: BSD-3-Clause */
/* calls.h - every call of the MPI that communicates, waits or works long, counted and timed: which
 * function, from where in the program, between ranks of one node or of several, how many bytes, and
 * how long.
 *
 * This room is a library of its own, libcrestacoll-calls.so, which is preloaded ahead of crestacoll
 * where a profile is asked for.  Programs without a profile do not have it.  It defines MPI_x and
 * the Fortran names (calls/wrappers.c, calls/fortran.c; generated), and goes on to what comes next
 * by that name: crestacoll's, a tool's, or the MPI's own.  It changes no argument and sends nothing.
 * What it knows becomes a member of the profile (core/profile_part.h).
 *
 * A thread counts in a table of its own: no lock, no memory from the heap, no system call.  A call
 * that comes from within another one (an MPI or a library that uses public names, the C name that a
 * Fortran name leads to) is part of that. */
#ifndef CCO_CALLS_H
#define CCO_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/clock.h"
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

/* Calls that are counted together. */
typedef struct cco_calls_key {
    const void *site; /* to which they return; NULL: all that have no room of their own */
    uint64_t what;    /* CCO_CALLS_WHAT */
} cco_calls_key;
#define CCO_CALLS_WHAT(function, of, distance)                                                     \
    ((uint64_t)(function) << 8 | (uint64_t)(of) << 4 | (uint64_t)(distance))

typedef struct cco_calls_entry {
    cco_calls_key key;
    uint64_t calls, bytes, ticks, longest;
} cco_calls_entry;

/* The table of a thread.  A thread that comes later takes over that of one that has ended. */
typedef struct cco_calls_thread {
    struct cco_calls_thread *next;
    bool in_use, main; /* main: of the thread that called MPI_Init */
    MPI_Datatype type; /* the last one of the standard's own, and its size */
    uint64_t type_size;
    uint32_t mask, used;
    cco_calls_entry *entries; /* empty where `calls` is 0 */
} cco_calls_thread;

/* Hidden, and of the room that every loader keeps for libraries: reached without a call. */
#define CCO_CALLS_HIDDEN __attribute__((visibility("hidden")))
#define CCO_CALLS_OWN CCO_CALLS_HIDDEN __attribute__((tls_model("initial-exec")))

/* Whether calls are counted; how many requests are open that are not of messages; whether the ranks
 * of the job are on several nodes. */
extern bool cco_calls_on CCO_CALLS_HIDDEN;
extern int cco_calls_others CCO_CALLS_HIDDEN;
extern bool cco_calls_several_nodes CCO_CALLS_HIDDEN;

/* The table of this thread; NULL: it has none yet.  Where its outermost counted call has its frame;
 * NULL outside of one. */
extern _Thread_local cco_calls_thread *cco_calls_mine CCO_CALLS_OWN;
extern _Thread_local const char *cco_calls_frame CCO_CALLS_OWN;

/* Begins a call; 0 if it is not counted.  An error handler may leave a call by longjmp: a call that
 * is not deeper in the stack than one that has not come back is no part of it. */
static inline uint64_t cco_calls_enter(const char *frame)
{
    if (!__atomic_load_n(&cco_calls_on, __ATOMIC_RELAXED) ||
        (cco_calls_frame != NULL && frame < cco_calls_frame))
        return 0;
    cco_calls_frame = frame;
    return cco_ticks();
}

/* Ends it. */
void cco_calls_leave(uint64_t start, uint64_t end, cco_calls_key key, uint64_t bytes)
    CCO_CALLS_HIDDEN;

/* The bytes of `count` elements; 0 of what is no datatype. */
uint64_t cco_calls_bytes(MPI_Count count, MPI_Datatype type) CCO_CALLS_HIDDEN;

/* Where a rank of a communicator is, if the job has several nodes (calls/places.c). */
uint8_t cco_calls_place(MPI_Comm comm, int rank) CCO_CALLS_HIDDEN;
static inline uint8_t cco_calls_distance_of(MPI_Comm comm, int rank)
{
    return cco_calls_several_nodes ? cco_calls_place(comm, rank) : CCO_CALLS_ON_NODE;
}
static inline uint8_t cco_calls_distance_of_window(void)
{
    return cco_calls_several_nodes ? CCO_CALLS_NOT_KNOWN : CCO_CALLS_ON_NODE;
}

/* In MPI_Init, on all ranks: the node of each rank of MPI_COMM_WORLD, as a number. */
void cco_calls_places_begin(const uint64_t *nodes, int ranks) CCO_CALLS_HIDDEN;

/* What the requests are of that a wait or a test gets, and which of them are not of messages; then,
 * after the call, which of these have ended (calls/requests.c). */
enum { CCO_CALLS_NOTED = 64 /* requests; of more in one call, only the kind is found */ };
typedef struct cco_calls_waited {
    cco_calls_of of;
    int count, at[CCO_CALLS_NOTED];
    uintptr_t handle[CCO_CALLS_NOTED];
} cco_calls_waited;
void cco_calls_look(cco_calls_waited *waited, int count, const MPI_Request *requests)
    CCO_CALLS_HIDDEN;
void cco_calls_look_fortran(cco_calls_waited *waited, int count, const MPI_Fint *requests)
    CCO_CALLS_HIDDEN;
void cco_calls_ended(const cco_calls_waited *waited, const MPI_Request *requests) CCO_CALLS_HIDDEN;
void cco_calls_ended_fortran(const cco_calls_waited *waited, const MPI_Fint *requests)
    CCO_CALLS_HIDDEN;

/* A request that is not of messages has been made. */
void cco_calls_begun(MPI_Request request, cco_calls_of of) CCO_CALLS_HIDDEN;

static inline bool cco_calls_others_any(void)
{
    return __builtin_expect(__atomic_load_n(&cco_calls_others, __ATOMIC_RELAXED) > 0, 0);
}

/* The next definition of `name` after this library; `found` keeps it (calls/next.c). */
void *cco_calls_next(const char *name, void **found) CCO_CALLS_HIDDEN;

/* All tables, the last one first. */
const cco_calls_thread *cco_calls_threads(void) CCO_CALLS_HIDDEN;

/* The calling thread is the main one. */
void cco_calls_main(void) CCO_CALLS_HIDDEN;

#endif
