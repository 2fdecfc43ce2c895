/* SPDX-License-Identifier: BSD-3-Clause */
/* replay_failure.c - see replay_failure.h. */
#include "record/replay_failure.h"

#include "core/failure.h"

void cco_replay_watch(cco_replay *r)
{
    r->program = (cco_watch){.kind = &cco_watch_processes, .comm = r->state->comm};
    r->peers = (cco_watch){
        &cco_watch_processes, MPI_COMM_NULL, .fail = cco_replay_lose, .owner = r};
    r->p2p.watch = &r->peers;
    r->lost = -1;
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
            cco_stream_sets_leave(r->sets[path]);
}

void cco_replay_leave(cco_replay *r, int error)
{
    cco_replay_lose(r, error, -1);
    cco_channel_fail(&r->channel);
}

bool cco_replay_has_failed(cco_replay *r)
{
    const int error = cco_replay_error(r);
    if (error != MPI_SUCCESS)
        cco_comm_fail(r->state, error, r->lost);
    return cco_comm_has_failed(r->state);
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
