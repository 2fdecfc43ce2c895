/* SPDX-License-Identifier: BSD-3-Clause */
/* awaited.c - see awaited.h. */
#include "wait/awaited.h"

#include <stddef.h>

#include "base/pause.h"
#include "mpi/ulfm.h"

enum {
    MESSAGES = 256, /* looked at in a millisecond, and of these */
    PENDING = 16    /* that are under way: for each, the MPI and the kernel are asked */
};

/* Whether a peer has sent a message that this call does not take.  All of its calls before have
 * been taken.  A probe sees only the first such message, and none of a peer that waits itself. */
static bool awaited_elsewhere(cco_awaited *a, const cco_channel *channel, int peer,
                              const cco_awaited_call *call)
{
    int here = 0;
    MPI_Status status;
    return call != NULL && peer >= 0 && !channel->broken &&
           PMPI_Iprobe(peer, MPI_ANY_TAG, channel->comm, &here, &status) == MPI_SUCCESS && here &&
           status.MPI_TAG != call->tag &&
           cco_channel_reads(channel, status.MPI_TAG, call->tag, call->stamp, &a->there);
}

/* The peer of a message that is under way, and that has ended or is elsewhere; -1 if there is none
 * among those whose turn it is. */
static int awaited_ended(cco_awaited *a, const cco_channel *channel, int count,
                         const MPI_Request *requests, const int *peers,
                         const cco_awaited_call *call)
{
    const int most = count < MESSAGES ? count : MESSAGES, first = a->at;
    for (int n = 0, pending = 0; n < most && pending < PENDING; n++) {
        int over = 1;
        a->at = (first + n) % count;
        if (requests[a->at] == MPI_REQUEST_NULL ||
            PMPI_Request_get_status(requests[a->at], &over, MPI_STATUS_IGNORE) != MPI_SUCCESS ||
            over)
            continue;
        const int peer = peers[a->at] < 0 ? ~peers[a->at] : peers[a->at];
        if (cco_watch_ended(channel->comm, peer) ||
            awaited_elsewhere(a, channel, peers[a->at], call))
            return peer; /* which comes first in the next look */
        pending++;
    }
    a->at = (a->at + 1) % count;
    return -1;
}

int cco_awaited_lost(cco_awaited *a, cco_watch *watch, const cco_channel *channel, int count,
                     const MPI_Request *requests, const int *peers, const cco_awaited_call *call)
{
    if (watch == NULL || count == 0 || !cco_watch_due(watch))
        return MPI_SUCCESS;
    int error = cco_watch_error(watch);
    if (error == MPI_SUCCESS)
        error = cco_channel_noticed(channel, MPI_ANY_SOURCE);
    if (error != MPI_SUCCESS)
        return cco_watch_fail(watch, error, -1);
    a->there = 0;
    const int peer = awaited_ended(a, channel, count, requests, peers, call);
    a->looks = peer < 0 ? 0 : peer == a->peer ? a->looks + 1 : 1;
    a->peer = peer;
    return a->looks < CCO_AWAITED_LOOKS || a->there != 0
               ? MPI_SUCCESS
               : cco_watch_fail(watch, cco_ulfm_failed_class(), peer);
}

int cco_awaited_end(cco_watch *watch, const cco_channel *channel, MPI_Request *request, int peer)
{
    cco_awaited awaited = {0};
    for (int tries = 0;; cco_pause_after_mpi(&tries)) {
        int done = 0;
        int rc = PMPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (rc == MPI_SUCCESS && !done && cco_watch_is_time(tries))
            rc = cco_awaited_lost(&awaited, watch, channel, 1, request, &peer, NULL);
        if (rc != MPI_SUCCESS || done)
            return rc;
    }
}

int cco_awaited_cause(const cco_channel *channel, int error)
{
    int class = MPI_SUCCESS;
    if (!cco_ulfm() || PMPI_Error_class(error, &class) != MPI_SUCCESS || class != MPI_ERR_IN_STATUS)
        return error;
    return cco_ulfm_revoked(channel->comm) ? cco_ulfm_revoked_class() : cco_ulfm_failed_class();
}
