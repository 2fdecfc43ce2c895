/* SPDX-License-Identifier: BSD-3-Clause */
/* paths.c - see paths.h. */
#include "record/paths.h"

#include "base/log.h"
#include "plan/hooked.h"
#include "record/recorded.h"
#include "record/replay_failure.h"
#include "sched/engine_run.h"

static bool paths_any(const cco_replay *r, cco_path path)
{
    for (int i = 0; i < r->count; i++)
        if (r->calls[i]->path == path)
            return true;
    return false;
}

static void paths_replace(cco_replay *r, cco_path path, cco_path by, const char *why)
{
    for (int i = 0; i < r->count; i++)
        if (r->calls[i]->path == path) {
            r->calls[i]->path = by;
            r->calls[i]->why = why;
        }
}

static void paths_over(cco_replay *r, cco_path path, const cco_transport *transport, void *shared,
                       cco_unlike *unlike)
{
    cco_scheduled_over(&r->over[path], transport, shared, unlike, r->state);
    r->over[path].hook.trace = NULL; /* it may outlive the state, */
    r->over[path].between = NULL;    /* and so does this */
}

/* Seats are places on the node. */
static void lose_seat(void *replay, int error, int lost)
{
    const cco_replay *r = replay;
    cco_replay_lose(replay, error,
                    lost < 0 ? -1 : r->map->ranks[r->map->first[r->map->node[r->rank]] + lost]);
}

/* Between the ranks of a node through memory, if they have it, and by messages otherwise. */
static void paths_open_nodes(cco_replay *r)
{
    r->map = cco_node_map_keep(r->state->nodes.map);
    cco_stream_sets *sets = cco_stream_sets_make(r->state, CCO_PATH_NODES, 1, &r->channel,
                                                 lose_seat, r);
    cco_stream_set *set = sets != NULL ? cco_stream_sets_next(sets) : NULL;
    r->sets[CCO_PATH_NODES] = sets;
    r->route = (cco_route){.map = r->map,
                           .node = r->map->node[r->rank],
                           .streams = set != NULL ? &set->stream : NULL,
                           .messages = &r->p2p};
    paths_over(r, CCO_PATH_NODES, &cco_transport_route, &r->route,
               set != NULL ? &set->stream.unlike : NULL);
}

static void open_segment(cco_replay *r)
{
    cco_stream_sets *sets = cco_stream_sets_make(r->state, CCO_PATH_SEGMENT, 1, &r->channel,
                                                 cco_replay_lose, r);
    r->sets[CCO_PATH_SEGMENT] = sets;
    cco_stream_set *set = sets != NULL ? cco_stream_sets_next(sets) : NULL;
    if (set != NULL)
        paths_over(r, CCO_PATH_SEGMENT, &cco_transport_stream, &set->stream, &set->stream.unlike);
    else
        paths_replace(r, CCO_PATH_SEGMENT, CCO_PATH_MESSAGES, "the ranks share no memory for it");
}

void cco_replay_paths_open(cco_replay *r)
{
    const bool nodes = paths_any(r, CCO_PATH_NODES), segment = paths_any(r, CCO_PATH_SEGMENT);
    if (!nodes && !segment && !paths_any(r, CCO_PATH_MESSAGES))
        return;
    if (!cco_channel_open(&r->channel, r->state->comm)) {
        const char *why = "the MPI could not make a communicator for messages";
        r->channel.comm = MPI_COMM_NULL;
        paths_replace(r, CCO_PATH_MESSAGES, CCO_PATH_NONE, why);
        paths_replace(r, CCO_PATH_NODES, CCO_PATH_NONE, why);
        paths_replace(r, CCO_PATH_SEGMENT, CCO_PATH_NONE, why);
        return;
    }
    r->p2p.channel = &r->channel;
    cco_replay_watch(r);
    paths_over(r, CCO_PATH_MESSAGES, &cco_transport_p2p, &r->p2p, NULL);
    if (nodes)
        paths_open_nodes(r);
    if (segment)
        open_segment(r);
    if (nodes || paths_any(r, CCO_PATH_MESSAGES))
        r->level = CCO_PROGRESS_MPI;
}

void cco_replay_paths_close(cco_replay *r)
{
    for (int path = 0; path < CCO_PATHS; path++)
        cco_scheduled_empty(&r->over[path]);
    for (int path = 0; path < CCO_PATHS; path++)
        cco_stream_sets_free(r->sets[path]);
    cco_node_map_drop(r->map);
    cco_channel_close(&r->channel);
}

/* The schedule that brings them is no part of the plan: the counts stay what they are. */
int cco_replay_paths_share(cco_replay *r, cco_recorded *call)
{
    cco_scheduled *own = &r->over[call->path];
    const cco_transport *transport = own->plans.transport;
    cco_binding binding;
    cco_plan *plan = NULL;
    int rc = transport->call != NULL ? transport->call(own->plans.shared) : MPI_SUCCESS;
    if (rc == MPI_SUCCESS)
        rc = cco_scheduled_share(own, &call->bound.problem, &binding, &plan);
    if (rc == MPI_ERR_NO_MEM) /* to go on without it on one rank would hang the others */
        cco_fatal("no memory for a recording on communicator '%s'", r->state->name);
    if (rc == MPI_SUCCESS)
        rc = cco_engine_run(plan->engine, &binding);
    call->counts = own->counts;
    call->bound.problem.counts = own->counts;
    own->counts = NULL;
    own->counts_room = 0;
    return rc;
}
