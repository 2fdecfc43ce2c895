/* SPDX-License-Identifier: BSD-3-Clause */
/* model "caf": our algorithms on Fortran coarrays. */
#include "transport/caf/caf.h"

#include <stdlib.h>

#include "config/config.h"
#include "mpi/ulfm.h"
#include "model/below.h"
#include "model/stream_model.h"
#include "model/registry.h"
#include "plan/arguments.h"

enum { BUFFER, VIA }; /* options, */
enum { AS_CONFIGURED, STATIC, DYNAMIC };
enum { PUT, GET, VIAS };

/* Streams do not share areas: a rank may still read what came by the one when others already write
 * on the other. */
typedef struct own {
    struct {
        cco_stream_model streams;
        cco_caf area;
        bool there;
        unsigned calls; /* without an area */
        const char *why;
    } kept[VIAS];
    cco_stream_model made[VIAS]; /* for coarrays of one call */
} own;

static const char own_key; /* its address is the key */

static void model_caf_release(void *data)
{
    own *o = data;
    for (int via = 0; via < VIAS; via++) {
        cco_stream_model_close(&o->kept[via].streams);
        cco_stream_model_free(&o->kept[via].streams);
        cco_caf_free(&o->kept[via].area);
        cco_stream_model_free(&o->made[via]);
    }
    free(o);
}

static own *model_caf_own_of(cco_comm *state)
{
    own *o = cco_comm_attached(state, &own_key);
    return o != NULL ? o : cco_comm_attach(state, &own_key, sizeof *o, model_caf_release);
}

/* Coarrays begin where all ranks of the job are.  A rank alone needs none. */
static const char *model_caf_begin(const cco_comm *state)
{
    if (state->size == 1)
        return NULL;
    return cco_caf_begin(state->comm);
}

/* An area that is kept.  A communicator that got none asks again in its 2nd, 4th, 8th... call:
 * there may be a coarray by then, or part of it free. */
static const char *model_caf_keep(own *o, cco_comm *state, int via)
{
    cco_caf *area = &o->kept[via].area;
    const int p = state->size;
    if (o->kept[via].there)
        return NULL;
    const unsigned calls = ++o->kept[via].calls;
    if ((calls & (calls - 1)) != 0)
        return o->kept[via].why;
    const char *why = model_caf_begin(state);
    const size_t least = cco_stream_share(p, cco_stream_ring(p, 0));
    if (why == NULL)
        why = cco_caf_keep(area, least, cco_configured.caf_buffer.bytes, cco_stream_share(p, 0),
                           state->comm);
    o->kept[via].there = why == NULL;
    o->kept[via].why = why;
    if (why == NULL)
        cco_stream_model_open(&o->kept[via].streams, &area->area, via == GET, state);
    return why;
}

static int model_caf_run_kept(own *o, cco_comm *state, const cco_way *way, const cco_call *call)
{
    const int via = (int)way->options[VIA];
    const char *why = model_caf_keep(o, state, via);
    if (why != NULL)
        return cco_run_fallback(way, state, call, why);
    cco_scheduled *own = &o->kept[via].streams.scheduled;
    const int rc = cco_scheduled_run(own, state, way, call);
    return rc != MPI_SUCCESS ? cco_scheduled_raise(own, state, call->coll, rc) : rc;
}

/* A coarray for this call only, as large as it needs. */
static int model_caf_run_made(own *o, cco_comm *state, const cco_way *way, const cco_call *call)
{
    const int via = (int)way->options[VIA];
    cco_caf area;
    const char *why = model_caf_begin(state);
    const size_t ring = cco_stream_model_ring(state, call, state->size,
                                              cco_configured.caf_buffer.bytes);
    const size_t share = cco_stream_share(state->size, ring);
    if (why == NULL)
        why = cco_caf_make(&area, share, cco_stream_share(state->size, 0), state->comm);
    if (why != NULL)
        return cco_run_fallback(way, state, call, why);
    cco_stream_model_open(&o->made[via], &area.area, via == GET, state);
    cco_scheduled *own = &o->made[via].scheduled;
    const int rc = cco_scheduled_fail(own, state, cco_scheduled_run(own, state, way, call));
    cco_stream_model_close(&o->made[via]);
    cco_caf_free(&area);
    return rc != MPI_SUCCESS ? cco_comm_raise(state, call->coll, rc) : rc;
}

static int model_caf_run(cco_comm *state, const cco_way *way, const cco_call *call)
{
    if (!cco_arguments_valid(state, call))
        return cco_arguments_refuse(call);
    own *o = model_caf_own_of(state);
    const long buffer = way->options[BUFFER];
    const bool dynamic = buffer == DYNAMIC ||
                         (buffer == AS_CONFIGURED && cco_configured.caf_buffer.dynamic);
    return dynamic ? model_caf_run_made(o, state, way, call)
                   : model_caf_run_kept(o, state, way, call);
}

/* CRESTA_Win_init: part of the coarray is taken now if a call may want it. */
static void model_caf_hold(cco_comm *state, bool wanted)
{
    if (wanted)
        model_caf_keep(model_caf_own_of(state), state, PUT);
}

/* OpenCoarrays locks the window for each put, and two threads must not at once. */
static cco_path model_caf_path(const cco_comm *state, const cco_way *way, const char **why)
{
    (void)state, (void)way;
    *why = "coarrays move in the calls of the program's thread only";
    return CCO_PATH_MESSAGES;
}

static const cco_param options[CCO_OPTIONS + 1] = {
    {"buffer", AS_CONFIGURED, 0, 2,
     "a coarray that is kept, or one for each call; else as CRESTA_CAF_BUFFER says",
     "configured|static|dynamic"},
    {"via", PUT, 0, 1, "who moves the data: the rank that has them, or the one that wants them",
     "put|get"},
};

/* What OpenCoarrays calls of the MPI passes us by.  A program with coarrays starts them itself. */
static void job_begin(void)
{
    if (!cco_ulfm() && !cco_plugin_program_has_coarrays())
        cco_caf_begin(MPI_COMM_WORLD);
}

static const char *model_caf_refuses(const cco_way *way, cco_coll coll, int size)
{
    return cco_ulfm() ? CCO_ULFM_NO_WINDOWS : cco_scheduled_refuses(way, coll, size);
}

const cco_model cco_model_caf = {
    .name = "caf",
    .doc = "our algorithms on Fortran coarrays",
    .run = model_caf_run,
    .touches = true,
    .below = &cco_model_p2p,
    .algorithms = cco_algo_of,
    .options = options,
    .refuses = model_caf_refuses,
    .path = model_caf_path,
    .hold = model_caf_hold,
    .job_begin = job_begin,
    .job_end = cco_caf_end,
};
