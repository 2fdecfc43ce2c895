/* SPDX-License-Identifier: BSD-3-Clause */
/* awaited.h - messages that a long wait waits for: whether they can still come to their end.
 *
 * They cannot if the process at the other end has ended (base/proc.h), or if a rank has left the
 * channel because it met a failure.  What a peer sent before it ended may still be on its way
 * through the MPI: some milliseconds later it has come, or never will. */
#ifndef CCO_AWAITED_H
#define CCO_AWAITED_H

#include "comm/channel.h"
#include "base/watch.h"

enum { CCO_AWAITED_LOOKS = 3 }; /* that find one thing until it counts */

/* The state of one wait; zeros, and again zeros when other messages are waited for. */
typedef struct cco_awaited {
    int at;         /* the message at which the next look begins */
    int peer;       /* whose process has ended, and */
    int looks;      /* how many looks in a row found that */
    uint64_t there; /* the stamp of another call, of which this peer has sent a message; or 0 */
} cco_awaited;

/* The call that the messages are of, where their tags say it (comm/channel.h).  Then `~peers[i]` is
 * where a message goes to. */
typedef struct cco_awaited_call {
    uint64_t stamp;
    int tag; /* -1: its messages have several; those of a begun call all have the number in it */
} cco_awaited_call;

/* `requests[i]` is of a message to or from `peers[i]`, under way on the channel, or over.  Looks at
 * most once in a millisecond, and then at so few of them that a look costs the same for any number.
 * MPI_SUCCESS, or the class of the error, which `watch` has got.  `call`: NULL, or it also looks
 * for peers that make another call, and returns MPI_SUCCESS with cco_awaited_strays. */
int cco_awaited_lost(cco_awaited *awaited, cco_watch *watch, const cco_channel *channel, int count,
                     const MPI_Request *requests, const int *peers, const cco_awaited_call *call);

/* True if the peer of the message `at` has sent one of another call, and still it is under way. */
static inline bool cco_awaited_strays(const cco_awaited *a)
{
    return a->there != 0 && a->looks >= CCO_AWAITED_LOOKS;
}

/* Completes such a request; gives up, with the request still active, if cco_awaited_lost says
 * so. */
int cco_awaited_end(cco_watch *watch, const cco_channel *channel, MPI_Request *request, int peer);

/* The class of an error of several messages, of which MPIs say only that one has failed. */
int cco_awaited_cause(const cco_channel *channel, int error);

#endif
