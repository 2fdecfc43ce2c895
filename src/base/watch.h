/* SPDX-License-Identifier: BSD-3-Clause */
/* watch.h - what a long wait looks for besides what it waits for: whether it can still come.
 *
 * It cannot if the rank that is to give it has ended, or takes no further part because it met a
 * failure itself; or if the program has revoked the communicator (mpi/ulfm.h).  A rank that ended
 * after it gave its data has not failed: so a wait looks once more for what it waits for when it
 * knows that nobody will add to that. */
#ifndef CCO_WATCH_H
#define CCO_WATCH_H

#include "base/proc.h"

/* What a rank has in memory that it shares with those who wait for it. */
typedef struct cco_peer_state {
    cco_proc life;
    uint64_t mpi_call;  /* its last call of those, without the bytes (stamp.h) */
    uint32_t left;      /* it writes nothing more there, because of this error; 0: it may */
    uint32_t told;      /* some rank has said that it has failed */
    uint32_t mpi_calls; /* it has begun of collectives for which the ranks choose by the call */
    char rest[64 - sizeof(cco_proc) - sizeof(uint64_t) - 3 * sizeof(uint32_t)];
} cco_peer_state;

typedef struct cco_watch cco_watch;

/* How to look.  A table, so that what waits in memory can be tested without an MPI. */
typedef struct cco_watch_kind {
    bool (*due)(cco_watch *watch);
    bool (*gone)(const cco_watch *watch, int seat);
    int (*error)(cco_watch *watch);
    int (*fail)(const cco_watch *watch, int error, int lost);
} cco_watch_kind;

extern const cco_watch_kind cco_watch_processes;

struct cco_watch {
    const cco_watch_kind *kind;
    MPI_Comm comm;               /* the program's, which it may revoke; MPI_COMM_NULL: none */
    const cco_peer_state *seats; /* of the ranks that share memory; NULL: the ranks share none */
    long next;                   /* when to look again, ns */
    long failed;                 /* since when the MPI knows of a failure, ns; 0: it does not */
    /* What happens when a wait gives up: from then on calls return `error`; `lost`: the seat or
     * the rank that is gone, -1: not known.  NULL: nothing. */
    void (*fail)(void *owner, int error, int lost);
    void *owner;
};

/* Whether a wait is so long that one look more costs it nothing: after some of its pauses. */
static inline bool cco_watch_is_time(int tries)
{
    enum { LONG = 128, EVERY = 8 };
    return tries >= LONG && tries % EVERY == 0;
}

/* Whether it is time to look at processes: once in a millisecond. */
static inline bool cco_watch_due(cco_watch *watch)
{
    return watch->kind->due(watch);
}

/* Whether the rank of a seat writes nothing more. */
static inline bool cco_watch_gone(const cco_watch *watch, int seat)
{
    return watch->kind->gone(watch, seat);
}

/* Why no wait can succeed, for whatever rank: the program has revoked its communicator; or the MPI
 * has known for half a second that a process of it has failed, and others may have left because of
 * that.  MPI_SUCCESS if waits can. */
static inline int cco_watch_error(cco_watch *watch)
{
    return watch->kind->error(watch);
}

/* The wait gives up, with `error`, or MPI_SUCCESS: with that of a process that has failed.
 * Returns the class of the error. */
static inline int cco_watch_fail(const cco_watch *watch, int error, int lost)
{
    return watch->kind->fail(watch, error, lost);
}

/* Whether a rank of `comm`, which has the ranks of the program's communicator, has ended. */
bool cco_watch_ended(MPI_Comm comm, int rank);

/* The program's communicator ends before what is watched. */
void cco_watch_forget(cco_watch *watch);

#endif
