/* SPDX-License-Identifier: BSD-3-Clause */
/* model "os": our algorithms on one-sided operations of the MPI. */
#include <stdlib.h>

#include "core/config.h"
#include "model/below.h"
#include "model/lane.h"
#include "model/registry.h"
#include "native/calls.h"
#include "transport/rma/window.h"

enum { WINDOW, VIA }; /* options, */
enum { AS_CONFIGURED, STATIC, DYNAMIC };
enum { PUT, GET, VIAS };

/* Lanes do not share windows: a rank may still read what came by the one when others already write
 * on the other. */
typedef struct own {
    struct {
        cco_lane lane;
        cco_window window;
        bool asked;      /* for a window that is kept: it is there, or never will be, */
        const char *why; /* because of this */
    } kept[VIAS];
    cco_lane made[VIAS]; /* for windows of one call */
    bool static_wanted;  /* CRESTA_Win_init */
} own;

static const char own_key; /* its address is the key */

static void release(void *data)
{
    own *o = data;
    for (int via = 0; via < VIAS; via++) {
        cco_lane_close(&o->kept[via].lane);
        cco_lane_empty(&o->kept[via].lane);
        cco_window_free(&o->kept[via].window);
        cco_lane_empty(&o->made[via]);
    }
    free(o);
}

/* NULL when communicators run out. */
static own *own_of(cco_comm *state)
{
    own *o = cco_comm_attached(state, &own_key);
    if (o == NULL && cco_comm_private(state) != MPI_COMM_NULL)
        o = cco_comm_attach(state, &own_key, sizeof *o, release);
    return o;
}

static const char *make(cco_window *window, const cco_comm *state, size_t share)
{
    return cco_window_make(window, share, cco_stream_share(state->size, 0), state->private_comm);
}

/* The window that is kept, made in the first call that wants it. */
static const char *keep(own *o, cco_comm *state, int via)
{
    cco_window *window = &o->kept[via].window;
    if (o->kept[via].asked)
        return o->kept[via].why;
    const size_t ring = cco_stream_ring(state->size, cco_configured.os_window.bytes);
    o->kept[via].asked = true;
    o->kept[via].why = make(window, state, cco_stream_share(state->size, ring));
    if (o->kept[via].why == NULL)
        cco_lane_open(&o->kept[via].lane, &window->area, via == GET, state);
    return o->kept[via].why;
}

static int run_kept(own *o, cco_comm *state, const cco_way *way, const cco_call *call)
{
    const int via = (int)way->options[VIA];
    const char *why = keep(o, state, via);
    if (why != NULL)
        return cco_run_below(&cco_model_os, state, call, why);
    const int rc = cco_scheduled_run(&o->kept[via].lane.scheduled, state, way, call);
    if (rc != MPI_SUCCESS)
        PMPI_Comm_call_errhandler(call->comm, rc);
    return rc;
}

/* A window for this call only, as large as it needs. */
static int run_made(own *o, cco_comm *state, const cco_way *way, const cco_call *call)
{
    const int via = (int)way->options[VIA];
    const size_t most = cco_configured.os_window.bytes;
    cco_window window;
    const size_t share = cco_lane_share(state, call, most, state->private_comm);
    const char *why = make(&window, state, share);
    if (why != NULL)
        return cco_run_below(&cco_model_os, state, call, why);
    cco_lane_open(&o->made[via], &window.area, via == GET, state);
    const int rc = cco_scheduled_run(&o->made[via].scheduled, state, way, call);
    cco_lane_close(&o->made[via]);
    cco_window_free(&window);
    if (rc != MPI_SUCCESS)
        PMPI_Comm_call_errhandler(call->comm, rc);
    return rc;
}

static bool is_dynamic(const own *o, const cco_way *way)
{
    const cco_store *store = &cco_configured.os_window;
    if (way->options[WINDOW] != AS_CONFIGURED)
        return way->options[WINDOW] == DYNAMIC;
    return store->dynamic && (store->given || !o->static_wanted);
}

static int run(cco_comm *state, const cco_way *way, const cco_call *call)
{
    if (!cco_arguments_fine(state, call))
        return cco_native_blocking(call);
    own *o = own_of(state);
    if (o == NULL) {
        PMPI_Comm_call_errhandler(call->comm, MPI_ERR_COMM);
        return MPI_ERR_COMM;
    }
    return is_dynamic(o, way) ? run_made(o, state, way, call) : run_kept(o, state, way, call);
}

static const cco_param options[CCO_OPTIONS + 1] = {
    {"window", AS_CONFIGURED, 0, 2, "kept, or made for each call; else as CRESTA_OS_WINDOW says",
     "configured|static|dynamic"},
    {"via", PUT, 0, 1, "who moves the data: the rank that has them, or the one that wants them",
     "put|get"},
};

const cco_model cco_model_os = {
    .name = "os",
    .doc = "our algorithms on one-sided operations of the MPI",
    .run = run,
    .below = &cco_model_p2p,
    .algorithms = cco_algo_of,
    .options = options,
    .refuses = cco_scheduled_refuses,
};
