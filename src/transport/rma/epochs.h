/* SPDX-License-Identifier: BSD-3-Clause */
/* epochs.h - sends and receives by post, start, complete and wait (MPI 4.0, section 12.5.2): the
 * receiver exposes its window to those whose pieces it wants, they put.
 *
 * Start and complete may wait for the other side, a rank has one exposure and one access at a time,
 * and MPICH 4.0 counts the posts that come to a rank without looking whose they are.  So that any
 * schedule gets through, nobody waits in these calls: a sender offers a piece, the receiver says
 * that it wants it, the sender turns to one receiver at a time, that one exposes the window and
 * says so, and only then the sender starts.  These words go through a window of their own. */
#ifndef CCO_EPOCHS_H
#define CCO_EPOCHS_H

#include "sched/transport.h"
#include "transport/rma/window.h"
#include "transport/stream/fragment.h"

/* Words that this rank told a peer: as its sender, how many pieces it offered and turned to; as its
 * receiver, how many it wanted and exposed the window for. */
typedef struct cco_epochs_pair {
    uint32_t offered, turned, wanted, exposed;
} cco_epochs_pair;

/* What the transfers of a communicator share. */
typedef struct cco_epochs {
    cco_window words, data;
    size_t piece; /* bytes of a share for each peer */
    MPI_Group everybody;
    cco_epochs_pair *pairs;
    int *list;    /* of ranks, for groups */
    bool exposed; /* data.open: to whom */
    cco_turns turns;
    uint64_t schedules;
    cco_unlike unlike; /* the first rank that made another call */
    bool broken;       /* a schedule was given up in an epoch */
} cco_epochs;

/* Makes both windows, with pieces of `piece` bytes, at most INT_MAX; that of the words in memory
 * that ranks share, if they are to `share` and can.  Collective.  NULL on all ranks, or on all why
 * there can be none. */
const char *cco_epochs_open(cco_epochs *epochs, size_t piece, MPI_Comm comm, bool share,
                            cco_window_life life);

/* Frees the windows, collective, or retires them with their communicator; nothing if there is
 * nothing. */
void cco_epochs_close(cco_epochs *epochs, bool retire);

extern const cco_transport cco_transport_epochs;

#endif
