/* SPDX-License-Identifier: BSD-3-Clause */
/* model "p2p": our algorithms on the MPI's sends and receives. */
#include "transport/p2p/p2p.h"

#include <stdlib.h>

#include "comm/failure.h"
#include "model/registry.h"
#include "plan/arguments.h"
#include "plan/scheduled.h"
#include "plan/hooked.h"

typedef struct own {
    cco_scheduled scheduled;
    cco_p2p p2p;
    cco_unlike unlike;
} own;

static const char own_key; /* its address is the key */

static void model_p2p_release(void *data)
{
    own *o = data;
    cco_scheduled_empty(&o->scheduled);
    free(o);
}

/* A call that the communicator remembers; mostly nothing but its tags has to be found. */
static int model_p2p_repeat(const cco_repeat *again, const void *sendbuf, void *recvbuf,
                            const cco_call *call)
{
    own *o = (own *)again->own; /* whose first member it is */
    if (!cco_channel_goes_on(o->p2p.channel) || !cco_scheduled_holds(&o->scheduled, again->cached))
        return cco_scheduled_repeat(again, sendbuf, recvbuf, call);
    o->p2p.tag = cco_channel_next(o->p2p.channel);
    return cco_scheduled_rerun(again, sendbuf, recvbuf);
}

/* Collective when it is made, in the first call; NULL when communicators run out. */
static own *model_p2p_own_of(cco_comm *state)
{
    own *o = cco_comm_attached(state, &own_key);
    if (o != NULL)
        return o;
    cco_channel *channel = cco_comm_channel(state);
    if (channel == NULL)
        return NULL;
    o = cco_comm_attach(state, &own_key, sizeof *o, model_p2p_release);
    o->p2p.channel = channel;
    o->p2p.watch = cco_comm_watch(state);
    o->p2p.unlike = &o->unlike;
    o->scheduled.repeat = model_p2p_repeat;
    cco_scheduled_over(&o->scheduled, &cco_transport_p2p, &o->p2p, &o->unlike, state);
    return o;
}

static int model_p2p_run(cco_comm *state, const cco_way *way, const cco_call *call)
{
    const own *there = cco_comm_attached(state, &own_key);
    const bool known = there != NULL && cco_scheduled_knows(&there->scheduled, way, call);
    if (!known && !cco_arguments_valid(state, call))
        return cco_arguments_refuse(call);
    own *o = model_p2p_own_of(state);
    int rc = o != NULL ? cco_scheduled_run(&o->scheduled, state, way, call)
                       : cco_comm_no_channel(state);
    if (rc != MPI_SUCCESS) /* it came from our communicator, not the program's */
        rc = o != NULL ? cco_scheduled_raise(&o->scheduled, state, call->coll, rc)
                       : cco_comm_raise(state, call->coll, rc);
    return rc;
}

static cco_path model_p2p_path(const cco_comm *state, const cco_way *way, const char **why)
{
    (void)state, (void)way;
    *why = NULL;
    return CCO_PATH_MESSAGES;
}

const cco_model cco_model_p2p = {
    .name = "p2p",
    .doc = "our algorithms on the MPI's sends and receives, and a polite wait",
    .run = model_p2p_run,
    .touches = true,
    .below = &cco_model_nonblock,
    .algorithms = cco_algo_of,
    .refuses = cco_scheduled_refuses,
    .path = model_p2p_path,
};
