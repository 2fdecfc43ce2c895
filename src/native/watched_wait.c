/* SPDX-License-Identifier: BSD-3-Clause */
/* watched_wait.c - see watched_wait.h. */
#include "native/watched_wait.h"

#include "base/clock.h"
#include "comm/failure.h"
#include "base/pause.h"
#include "mpi/ulfm.h"
#include "native/staging.h"

enum { PATIENCE = 10 /* seconds */ };

/* Without ULFM nobody knows for whom the MPI waits: looks at one rank after the other. */
static int long_ended(cco_comm *state, int *rank, long *since)
{
    const long now = cco_ns(CLOCK_MONOTONIC);
    if (*since == 0 && *rank != state->rank && cco_watch_ended(state->comm, *rank))
        *since = now;
    if (*since == 0)
        *rank = (*rank + 1) % state->size;
    return *since != 0 && now - *since > PATIENCE * 1000000000L ? cco_ulfm_failed_class()
                                                                : MPI_SUCCESS;
}

int cco_wait_watched(cco_comm *state, MPI_Request *request)
{
    cco_watch *watch = cco_comm_watch(state);
    int rank = 0, error = MPI_SUCCESS;
    long since = 0;
    for (int tries = 0;; cco_pause_after_mpi(&tries)) {
        int done = 0;
        const int rc = PMPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (rc != MPI_SUCCESS || done)
            return rc;
        if (error != MPI_SUCCESS)
            return cco_watch_fail(watch, error, since != 0 ? rank : -1);
        if (cco_watch_is_time(tries) && cco_watch_due(watch))
            error = cco_ulfm() ? cco_watch_error(watch) : long_ended(state, &rank, &since);
    }
}

int cco_watched_end(cco_comm *state, cco_coll coll, int rc)
{
    const bool unheard = rc != MPI_SUCCESS && (rc == state->failure.error ||
                                               cco_staging_comm(state, coll) != state->comm);
    return unheard ? cco_comm_raise(state, coll, rc) : rc;
}
