/* SPDX-License-Identifier: BSD-3-Clause */
/* model "os": our algorithms on one-sided operations of the MPI.
 *
 * On several nodes each has a window of its own, in memory that its ranks share, and messages pass
 * between nodes: over most networks the MPI makes messages of puts, and whatever follows the data
 * waits until the other node has answered.  With access=calls, sync=pscw and sync=fence one window
 * has all ranks, as on one node. */
#include <stdlib.h>

#include "config/config.h"
#include "comm/failure.h"
#include "base/log.h"
#include "mpi/ulfm.h"
#include "model/below.h"
#include "model/node_window.h"
#include "model/stream_model.h"
#include "model/registry.h"
#include "plan/arguments.h"
#include "plan/hooked.h"
#include "transport/rma/epochs.h"
#include "transport/rma/fences.h"
#include "transport/rma/shared.h"
#include "transport/route/route.h"

enum { WINDOW, VIA, SYNC, ACCESS }; /* options, */
enum { AS_CONFIGURED, STATIC, DYNAMIC };
enum { PUT, GET };
enum { FLUSH, PSCW, FENCE };
enum { DIRECT, CALLS };

/* Memory and streams for one way to use it.  No two ways share them: a rank may still read what
 * came by the one when others already write by the other. */
typedef struct link {
    cco_stream_model streams;
    cco_window window;
    cco_route route; /* on several nodes: the streams within, and */
    cco_p2p messages;
    cco_epochs epochs;
    cco_fences fences;
} link;

enum { PUTS, GETS, PUTS_BY_CALLS, GETS_BY_CALLS, EPOCHS, FENCES, LINKS };

typedef struct own {
    struct {
        link link;
        bool asked;      /* for its window: it is there, or never will be, */
        const char *why; /* because of this */
    } kept[LINKS];
    link made[LINKS];   /* for windows of one call */
    bool held;          /* CRESTA_Win_init */
    bool looked, share; /* whether all ranks are on one node, once somebody has looked */
} own;

static const char own_key; /* its address is the key */

/* Streams that were given up leave a window in which nobody knows what is where. */
static void close_link(link *l, bool retire)
{
    l->window.broken = l->streams.stream.broken;
    cco_stream_model_close(&l->streams);
    (retire ? cco_window_retire : cco_window_free)(&l->window);
    cco_epochs_close(&l->epochs, retire);
    cco_fences_close(&l->fences, retire);
}

static void os_release(void *data)
{
    own *o = data;
    for (int i = 0; i < LINKS; i++) {
        link *l = &o->kept[i].link;
        l->window.held = l->epochs.words.held = l->epochs.data.held = l->fences.window.held =
            o->held;
        close_link(l, true);
        cco_stream_model_free(&l->streams);
        cco_stream_model_free(&o->made[i].streams);
    }
    free(o);
}

static own *os_own_of(cco_comm *state)
{
    own *o = cco_comm_attached(state, &own_key);
    return o != NULL ? o : cco_comm_attach(state, &own_key, sizeof *o, os_release);
}

/* Collective, the first time. */
static bool can_share(own *o, MPI_Comm comm)
{
    if (!o->looked)
        o->share = cco_window_can_share(comm);
    o->looked = true;
    return o->share;
}

static const char *os_open_streams(link *l, int kind, cco_comm *state, size_t ring, bool share,
                                   cco_window_life life)
{
    const size_t zero = cco_stream_share(state->size, 0);
    const char *why = cco_window_make(&l->window, cco_stream_share(state->size, ring), zero,
                                      state->comm, share, life);
    if (why == NULL)
        cco_stream_model_open(&l->streams, &l->window.area, kind == GETS || kind == GETS_BY_CALLS,
                              state);
    return why;
}

/* True, on all ranks, if windows are those of nodes. */
static bool on_nodes(const cco_comm *state, int kind)
{
    const cco_node_map *map = state->nodes.map;
    return (kind == PUTS || kind == GETS) && map != NULL && map->count > 1;
}

/* How many have rings in the share of a rank, at most. */
static int os_sharers(const cco_comm *state, int kind)
{
    return on_nodes(state, kind) ? state->nodes.map->most : state->size;
}

/* A rank alone on its node has messages only. */
static const char *os_open_nodes(link *l, int kind, cco_comm *state, size_t ring,
                                 cco_window_life life)
{
    const cco_node_map *map = state->nodes.map;
    const int node = map->node[state->rank];
    const bool alone = cco_node_ranks(map, node) == 1;
    cco_channel *channel = cco_comm_channel(state);
    if (channel == NULL)
        return "the MPI could not make a communicator for messages";
    const char *why = cco_node_window_make(&l->window, ring, state, life);
    if (why != NULL)
        return why;
    if (!alone && !cco_stream_open(&l->streams.stream, &l->window.area, kind == GETS))
        cco_fatal("no memory for streams on communicator '%s'", state->name);
    l->messages = (cco_p2p){channel, cco_comm_watch(state), .unlike = &l->streams.stream.unlike};
    l->route = (cco_route){.map = map,
                           .node = node,
                           .streams = alone ? NULL : &l->streams.stream,
                           .messages = &l->messages};
    l->streams.scheduled.pieces = true;
    if (l->streams.scheduled.plans.transport == NULL)
        cco_scheduled_over(&l->streams.scheduled, &cco_transport_route, &l->route,
                           &l->streams.stream.unlike, state);
    return NULL;
}

/* NULL on all ranks, or on all why there is none. */
static const char *open_link(own *o, link *l, int kind, cco_comm *state, size_t ring,
                             cco_window_life life)
{
    const MPI_Comm comm = state->comm;
    const char *why;
    if (kind == FENCES) {
        why = cco_fences_open(&l->fences, ring, comm, life);
        if (why == NULL)
            cco_scheduled_over(&l->streams.scheduled, &cco_transport_fences, &l->fences,
                               &l->fences.unlike, state);
    } else if (kind == EPOCHS) {
        why = cco_epochs_open(&l->epochs, ring, comm, can_share(o, comm), life);
        if (why == NULL)
            cco_scheduled_over(&l->streams.scheduled, &cco_transport_epochs, &l->epochs,
                               &l->epochs.unlike, state);
    } else if (on_nodes(state, kind)) {
        why = os_open_nodes(l, kind, state, ring, life);
    } else {
        why = os_open_streams(l, kind, state, ring, kind < PUTS_BY_CALLS && can_share(o, comm),
                              life);
    }
    return why;
}

/* The window that is kept, made in the first call that wants it.  NULL, or why there is none. */
static const char *os_keep(own *o, int kind, cco_comm *state)
{
    const size_t bytes = cco_configured.os_window.bytes;
    if (!o->kept[kind].asked) {
        o->kept[kind].asked = true;
        o->kept[kind].why = open_link(o, &o->kept[kind].link, kind, state,
                                      cco_stream_ring(os_sharers(state, kind), bytes),
                                      CCO_WINDOW_KEPT);
    }
    return o->kept[kind].why;
}

static int run_link(link *l, cco_comm *state, const cco_way *way, const cco_call *call)
{
    int rc = cco_scheduled_run(&l->streams.scheduled, state, way, call);
    if (way->options[SYNC] == FENCE) {
        const int end = cco_fences_end(&l->fences);
        rc = rc == MPI_SUCCESS ? end : rc;
    }
    return cco_scheduled_fail(&l->streams.scheduled, state, rc);
}

/* The last thing that is done: an error handler may never come back. */
static int os_told(cco_comm *state, const cco_call *call, int rc)
{
    return rc != MPI_SUCCESS ? cco_comm_raise(state, call->coll, rc) : rc;
}

/* With a window for this call only, as large as it needs. */
static int os_run_made(own *o, int kind, cco_comm *state, const cco_way *way, const cco_call *call)
{
    const size_t ring = cco_stream_model_ring(state, call, os_sharers(state, kind),
                                              cco_configured.os_window.bytes);
    link *l = &o->made[kind];
    const char *why = open_link(o, l, kind, state, ring, CCO_WINDOW_FOR_A_CALL);
    if (why != NULL)
        return cco_run_fallback(way, state, call, why);
    const int rc = run_link(l, state, way, call);
    close_link(l, false);
    return os_told(state, call, rc);
}

/* There may be nothing of ours yet. */
static bool is_dynamic(const own *o, const cco_way *way)
{
    const cco_store *store = &cco_configured.os_window;
    if (way->options[WINDOW] != AS_CONFIGURED)
        return way->options[WINDOW] == DYNAMIC;
    return store->dynamic && (store->given || o == NULL || !o->held);
}

static int os_kind_of(const cco_way *way)
{
    if (way->options[SYNC] == PSCW)
        return EPOCHS;
    if (way->options[SYNC] == FENCE)
        return FENCES;
    if (way->options[ACCESS] == CALLS)
        return way->options[VIA] == GET ? GETS_BY_CALLS : PUTS_BY_CALLS;
    return way->options[VIA] == GET ? GETS : PUTS;
}

static int os_run(cco_comm *state, const cco_way *way, const cco_call *call)
{
    if (!cco_arguments_valid(state, call))
        return cco_arguments_refuse(call);
    if (state->failure.error != MPI_SUCCESS) /* a process has failed */
        return os_told(state, call, state->failure.error);
    own *o = os_own_of(state);
    const int kind = os_kind_of(way);
    if (is_dynamic(o, way))
        return os_run_made(o, kind, state, way, call);
    const char *why = os_keep(o, kind, state);
    return why == NULL ? os_told(state, call, run_link(&o->kept[kind].link, state, way, call))
                       : cco_run_fallback(way, state, call, why);
}

static const char *os_refuses(const cco_way *way, cco_coll coll, int size)
{
    if (cco_ulfm())
        return CCO_ULFM_NO_WINDOWS;
    if (way->options[SYNC] != FLUSH && way->options[VIA] == GET)
        return "sync=pscw and sync=fence only put";
    if (way->options[SYNC] != FLUSH && way->options[ACCESS] == CALLS)
        return "access=calls is for sync=flush: with pscw and fence all data go by calls";
    return cco_scheduled_refuses(way, coll, size);
}

/* Windows that ranks reach by themselves.  On several nodes begins move as those of hier: their
 * memory within a node is ours. */
static cco_path os_path(const cco_comm *state, const cco_way *way, const char **why)
{
    const own *o = state != NULL ? cco_comm_attached(state, &own_key) : NULL;
    const int kind = os_kind_of(way);
    *why = NULL;
    if (is_dynamic(o, way))
        *why = "a begin makes no window";
    else if (kind != PUTS && kind != GETS)
        *why = "what goes by calls of windows moves in blocking calls only";
    if (*why != NULL)
        return CCO_PATH_MESSAGES;
    if (state != NULL && on_nodes(state, kind))
        return state->nodes.map->most > 1 ? CCO_PATH_NODES : CCO_PATH_MESSAGES;
    return kind == GETS ? CCO_PATH_GETS : CCO_PATH_PUTS;
}

/* CRESTA_Win_init: the window is static, and made now if a call may want it. */
static void os_hold(cco_comm *state, bool wanted)
{
    own *o = os_own_of(state);
    o->held = true;
    if (wanted)
        os_keep(o, PUTS, state);
}

/* CRESTA_Win_finalize. */
static void os_let_go(cco_comm *state)
{
    own *o = cco_comm_attached(state, &own_key);
    if (o == NULL || !o->held)
        return;
    o->held = false;
    for (int i = 0; i < LINKS; i++) {
        close_link(&o->kept[i].link, false);
        o->kept[i].asked = false;
    }
}

static const cco_param options[CCO_OPTIONS + 1] = {
    {"window", AS_CONFIGURED, 0, 2, "kept, or made for each call; else as CRESTA_OS_WINDOW says",
     "configured|static|dynamic"},
    {"via", PUT, 0, 1, "who moves data: the rank that has them, or the one that wants them",
     "put|get"},
    {"sync", FLUSH, 0, 2,
     "passive target with flushes, or post, start, complete and wait, or fences over all ranks",
     "flush|pscw|fence"},
    {"access", DIRECT, 0, 1,
     "read and write what others share with this rank, and send to other nodes; or everything by"
     " calls of windows",
     "direct|calls"},
};

static void job_free(void)
{
    cco_windows_free(true);
}

const cco_model cco_model_os = {
    .name = "os",
    .doc = "our algorithms on one-sided operations of the MPI",
    .run = os_run,
    .touches = true,
    .by_nodes = true,
    .below = &cco_model_p2p,
    .algorithms = cco_algo_of,
    .options = options,
    .refuses = os_refuses,
    .path = os_path,
    .hold = os_hold,
    .let_go = os_let_go,
    .job_free = job_free,
};
