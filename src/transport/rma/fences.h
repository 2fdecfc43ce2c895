/* SPDX-License-Identifier: BSD-3-Clause */
/* fences.h - sends and receives by puts between fences over all ranks (MPI 4.0, section 12.5.1).
 *
 * Every look at a transfer is a fence: a piece of each message goes into the epoch before it, if
 * its receiver has taken the one before.  Ranks have different schedules, so that one which is
 * through goes on with fences until all are. */
#ifndef CCO_FENCES_H
#define CCO_FENCES_H

#include "sched/transport.h"
#include "transport/rma/window.h"
#include "transport/stream/fragment.h"

/* Words are the numbers of fences: what was put before a fence may be seen before it already, and
 * counts after it. */
typedef struct cco_fences_pair {
    uint32_t sent;  /* before this fence the last piece was put to the peer; */
    uint32_t taken; /* the last piece that this rank took was put before that one */
} cco_fences_pair;

/* What the transfers of a communicator share. */
typedef struct cco_fences {
    cco_window window;
    size_t piece;     /* bytes of a share for each peer */
    uint32_t now;     /* fences so far */
    uint32_t ended;   /* the one with which the last call ended */
    uint32_t through; /* before this one this rank was through with the last call */
    uint32_t left;    /* the error that this rank told, */
    uint32_t call;    /* and the call; 0: it has no schedule */
    unsigned calls;
    cco_fences_pair *pairs;
    cco_turns turns;
    uint64_t schedules;
    cco_unlike unlike; /* the first rank that made another call */
    bool broken;       /* a schedule was given up */
} cco_fences;

/* Makes the window, with pieces of `piece` bytes, at most INT_MAX; collective.  NULL on all ranks,
 * or on all why there can be none. */
const char *cco_fences_open(cco_fences *fences, size_t piece, MPI_Comm comm, cco_window_life life);

/* Frees the window, collective, or retires it with its communicator; nothing if there is nothing.
 */
void cco_fences_close(cco_fences *fences, bool retire);

/* The schedule of a call has ended here, with or without success: returns when all have.
 * Collective. Returns MPI_SUCCESS or an MPI error class. */
int cco_fences_end(cco_fences *fences);

extern const cco_transport cco_transport_fences;

#endif
