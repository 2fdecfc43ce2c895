/* SPDX-License-Identifier: BSD-3-Clause */
/* model "hier": algorithms that know on which node each rank is, on messages that go through shared
 * memory within a node and by the MPI between nodes.
 *
 * On one node it is model shm, and where every rank has a node to itself, p2p. */
#include <stdio.h>
#include <stdlib.h>

#include "comm/failure.h"
#include "comm/fallback.h"
#include "base/log.h"
#include "model/below.h"
#include "model/node_streams.h"
#include "model/registry.h"
#include "plan/hooked.h"
#include "plan/arguments.h"
#include "plan/scheduled.h"
#include "transport/route/route.h"

typedef struct own {
    cco_scheduled scheduled;
    cco_route route;
    cco_p2p messages;
    cco_node_streams streams;
    bool complete; /* all nodes have streams that need them */
} own;

static const char own_key; /* its address is the key */

static void hier_release(void *data)
{
    own *o = data;
    cco_scheduled_empty(&o->scheduled);
    cco_node_streams_free(&o->streams);
    free(o);
}

static void say_nodes(const cco_comm *state)
{
    const cco_node_map *map = state->nodes.map;
    char each[32];
    if (state->rank != 0)
        return;
    if (map->least == map->most)
        snprintf(each, sizeof each, "%d", map->least);
    else
        snprintf(each, sizeof each, "%d to %d", map->least, map->most);
    cco_log(CCO_LOG_INFO, "communicator '%s' is on %d node%s with %s rank%s each%s", state->name,
            map->count, cco_plural(map->count), each, cco_plural(map->most),
            map->contiguous ? "" : ", not one after the other");
}

/* Where a node has no streams, its ranks use messages, too: MPI_SUCCESS unless CRESTA_FALLBACK
 * forbids that. */
static int without_streams(const cco_comm *state)
{
    static uint32_t reported;
    const cco_fallback fallback = {NULL,
                                   "hier",
                                   "the ranks of a node share no memory (CRESTA_SHM_MEMORY)",
                                   "messages of the MPI within that node",
                                   state->rank == 0,
                                   false};
    return cco_fall_back(state, &fallback, &reported, 0);
}

/* Collective when it is made, in the first call; NULL when communicators run out. */
static own *hier_own_of(cco_comm *state)
{
    own *o = cco_comm_attached(state, &own_key);
    if (o != NULL)
        return o;
    cco_channel *channel = cco_comm_channel(state);
    if (channel == NULL)
        return NULL;
    o = cco_comm_attach(state, &own_key, sizeof *o, hier_release);
    o->messages = (cco_p2p){channel, cco_comm_watch(state), .unlike = &o->streams.stream.unlike};
    say_nodes(state);
    o->complete = cco_node_streams_make(&o->streams, state, state->nodes.map);
    o->route = (cco_route){.map = state->nodes.map,
                           .node = state->nodes.map->node[state->rank],
                           .streams = o->streams.there ? &o->streams.stream : NULL,
                           .messages = &o->messages};
    o->scheduled.repeat = cco_scheduled_repeat;
    o->scheduled.pieces = true;
    cco_scheduled_over(&o->scheduled, &cco_transport_route, &o->route, &o->streams.stream.unlike,
                       state);
    return o;
}

/* Within one node slots are faster than any schedule. */
static bool is_one_node(const cco_comm *state, const cco_way *way)
{
    return state->nodes.map->count == 1 && way->algo == NULL;
}

static int run_hier(own *o, cco_comm *state, const cco_way *way, const cco_call *call)
{
    int rc = o == NULL                                   ? cco_comm_no_channel(state)
             : o->complete || cco_comm_has_failed(state) ? state->failure.error
                                                         : without_streams(state);
    if (rc == MPI_SUCCESS)
        rc = cco_scheduled_fail(&o->scheduled, state,
                                cco_scheduled_run(&o->scheduled, state, way, call));
    else if (o != NULL)
        rc = cco_comm_refuse(state, rc);
    if (rc != MPI_SUCCESS) /* it came from our communicator, not the program's */
        rc = cco_comm_raise(state, call->coll, rc);
    return rc;
}

static int hier_run(cco_comm *state, const cco_way *way, const cco_call *call)
{
    if (!cco_arguments_valid(state, call))
        return cco_arguments_refuse(call);
    if (state->nodes.map == NULL)
        return cco_run_fallback(way, state, call, "nobody has found out where its ranks are");
    if (is_one_node(state, way))
        return cco_model_shm.run(state, &(cco_way){.model = &cco_model_shm}, call);
    return run_hier(hier_own_of(state), state, way, call);
}

/* On one node as those of shm; where every rank has a node to itself, messages are all there is. */
static cco_path hier_path(const cco_comm *state, const cco_way *way, const char **why)
{
    const cco_node_map *map = state != NULL ? state->nodes.map : NULL;
    (void)way;
    *why = NULL;
    if (map == NULL)
        return CCO_PATH_MESSAGES;
    return map->count == 1 ? CCO_PATH_SEGMENT : map->most == 1 ? CCO_PATH_MESSAGES : CCO_PATH_NODES;
}

const cco_model cco_model_hier = {
    .name = "hier",
    .doc = "algorithms that know nodes: shared memory within, the MPI's messages between",
    .run = hier_run,
    .touches = true,
    .by_nodes = true,
    .below = &cco_model_p2p,
    .algorithms = cco_node_algo_of,
    .refuses = cco_scheduled_refuses,
    .path = hier_path,
};
