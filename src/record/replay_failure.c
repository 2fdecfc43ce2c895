/* SPDX-License-Identifier: BSD-3-Clause */
/* replay_failure.c - see replay_failure.h. */
#include "record/replay_failure.h"

#include "comm/failure.h"
#include "mpi/ulfm.h"

void cco_replay_watch(cco_replay *r)
{
    r->program = (cco_watch){.kind = &cco_watch_processes, .comm = r->state->comm};
    r->peers = (cco_watch){&cco_watch_processes, r->state->comm, .fail = cco_replay_lose,
                           .owner = r};
    r->p2p.watch = &r->peers;
    r->lost = -1;
}

void cco_replay_made(cco_replay *r)
{
    cco_watch_forget(&r->peers);
}

void cco_replay_lose(void *replay, int error, int lost)
{
    cco_replay *r = replay;
    int none = MPI_SUCCESS;
    if (!__atomic_compare_exchange_n(&r->error, &none, error, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE))
        return;
    r->lost = lost;
    for (int path = 0; path < CCO_PATHS; path++)
        if (r->sets[path] != NULL)
            cco_stream_sets_leave(r->sets[path], error);
}

void cco_replay_leave(cco_replay *r, int error)
{
    cco_replay_lose(r, error, -1);
    cco_channel_fail(&r->channel, error);
}

/* The class of `error` if it is that of a failure, or follows one.  Ours is revoked only by ranks
 * that know of a failure. */
static int replay_failure_cause(cco_replay *r, int error)
{
    const int known = cco_replay_error(r);
    if (known != MPI_SUCCESS || cco_ulfm_class(error) == MPI_SUCCESS)
        return known;
    return cco_watch_error(&r->program) == cco_ulfm_revoked_class() ? cco_ulfm_revoked_class()
                                                                    : cco_ulfm_failed_class();
}

/* The communicator tells recordings that are there, of which this one is none yet. */
bool cco_replay_has_failed(cco_replay *r, int error)
{
    const int class = replay_failure_cause(r, error);
    if (class != MPI_SUCCESS)
        cco_comm_fail(r->state, class, r->lost);
    const bool failed = cco_comm_has_failed(r->state);
    if (failed)
        cco_replay_leave(r, r->state->failure.error);
    return failed;
}

void cco_replay_stopped(cco_replay *r)
{
    const int class = replay_failure_cause(r, r->rc);
    if (class != MPI_SUCCESS)
        cco_replay_leave(r, class);
}

int cco_replay_look_around(cco_replay *r, bool moved, bool calls_mpi)
{
    enum { MANY = 1 << 20 };
    cco_engine *engine = r->parts[r->at].engine;
    int error = cco_replay_error(r);
    r->idle = moved ? 0 : r->idle < MANY ? r->idle + 1 : r->idle - 8;
    if (error == MPI_SUCCESS && !cco_watch_is_time(r->idle))
        return MPI_SUCCESS;
    if (error == MPI_SUCCESS && calls_mpi && cco_watch_due(&r->program))
        error = cco_watch_error(&r->program);
    return error == MPI_SUCCESS ? cco_engine_lost(engine) : cco_engine_stop(engine, error);
}
