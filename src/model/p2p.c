/* SPDX-License-Identifier: BSD-3-Clause */
/* model "p2p": our algorithms on the MPI's sends and receives. */
#include "transport/p2p/p2p.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/config.h"
#include "core/log.h"
#include "model/registry.h"
#include "model/scheduled.h"
#include "native/calls.h"
#include "transport/hook/hook.h"

typedef struct own {
    cco_scheduled scheduled;
    cco_p2p p2p;
    cco_hook hook; /* CRESTA_DEBUG */
} own;

static const char own_key; /* its address is the key */

static void release(void *data)
{
    own *o = data;
    cco_scheduled_empty(&o->scheduled);
    free(o);
}

static void trace(void *listener, const char *what, int peer, size_t bytes)
{
    const cco_comm *state = listener;
    char with[32] = "";
    if (peer >= 0)
        snprintf(with, sizeof with, " with rank %d", peer);
    cco_say("trace: rank %d of '%s': %s %zu bytes%s", state->rank, state->name, what, bytes, with);
}

/* CRESTA_DEBUG: operations pass through a hook. */
static void put_hook(own *o, cco_comm *state)
{
    const cco_debug *debug = &cco_configured.debug;
    o->hook = (cco_hook){.inner = &cco_transport_p2p,
                         .shared = &o->p2p,
                         .seed = debug->delay ? debug->delay * 8191 + (uint64_t)state->rank : 0,
                         .fail = (long)debug->fail,
                         .trace = debug->trace ? trace : NULL,
                         .listener = state};
    o->scheduled.plans.transport = &cco_transport_hook;
    o->scheduled.plans.shared = &o->hook;
}

/* Collective when it is made, in the first call; NULL when communicators run out. */
static own *own_of(cco_comm *state)
{
    own *o = cco_comm_attached(state, &own_key);
    if (o != NULL)
        return o;
    const MPI_Comm comm = cco_comm_private(state);
    if (comm == MPI_COMM_NULL)
        return NULL;
    o = cco_comm_attach(state, &own_key, sizeof *o, release);
    o->p2p.comm = comm;
    o->scheduled.plans.transport = &cco_transport_p2p;
    o->scheduled.plans.shared = &o->p2p;
    if (cco_configured.debug.trace || cco_configured.debug.delay || cco_configured.debug.fail)
        put_hook(o, state);
    return o;
}

static int run(cco_comm *state, const cco_way *way, const cco_call *call)
{
    if (!cco_arguments_fine(state, call))
        return cco_native_blocking(call);
    own *o = own_of(state);
    const int rc = o != NULL ? cco_scheduled_run(&o->scheduled, state, way, call) : MPI_ERR_COMM;
    if (rc != MPI_SUCCESS) /* it came from our communicator, not the program's */
        PMPI_Comm_call_errhandler(call->comm, rc);
    return rc;
}

/* Some algorithms want a power of two of processes, or an even number.  Roots and operations are
 * not known yet. */
static const char *refuses(const cco_way *way, cco_coll coll, int size)
{
    const cco_problem any = {.coll = coll, .size = size, .commutative = true, .unit = 1};
    if (cco_algo_of(coll, 0) == NULL)
        return "there is no algorithm for it";
    if (way->algo == NULL || way->algo->usable(&any))
        return NULL;
    return "the algorithm cannot do this number of processes";
}

const cco_model cco_model_p2p = {
    .name = "p2p",
    .doc = "our algorithms on the MPI's sends and receives, and a polite wait",
    .run = run,
    .below = &cco_model_nonblock,
    .algorithms = cco_algo_of,
    .refuses = refuses,
};
