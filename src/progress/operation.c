/* SPDX-License-Identifier: BSD-3-Clause */
/* begun.c - see begun.h. */
#include "progress/operation.h"

#include <stdlib.h>
#include <string.h>

#include "core/config.h"
#include "core/data.h"
#include "core/fresh.h"
#include "core/progress_thread.h"
#include "core/log.h"
#include "model/registry.h"
#include "plan/scheduled.h"
#include "progress/queue.h"
#include "progress/operation_pool.h"

/* The path of an implementation's begins that its ranks can have; if that is another's, why. */
static cco_path path_for(const cco_comm *state, const cco_way *way)
{
    const char *why;
    const cco_path path = way->model->path != NULL ? way->model->path(state, way, &why)
                                                   : CCO_PATH_NONE;
    if (path > CCO_PATH_MESSAGES && state->facts.linked)
        return path;
    return path != CCO_PATH_NONE && state->facts.progress == CCO_PROGRESS_MPI ? CCO_PATH_MESSAGES
                                                                              : CCO_PATH_NONE;
}

static bool visit_paths(cco_comm *state, bool make)
{
    bool any = false;
    for (int coll = 0; coll < CCO_COLLECTIVES && state->size > 1; coll++)
        for (int i = 0; i < state->choices[coll].count; i++) {
            const cco_path path = path_for(state, &state->choices[coll].list[i].way);
            any = any || path != CCO_PATH_NONE;
            if (make && path != CCO_PATH_NONE)
                cco_operation_pool_make(state, path);
        }
    return any;
}

bool cco_operations_possible(cco_comm *state)
{
    return state->facts.progress != CCO_PROGRESS_NONE && visit_paths(state, false);
}

void cco_operations_prepare(cco_comm *state)
{
    if (state->facts.progress != CCO_PROGRESS_NONE)
        visit_paths(state, true);
}

/* Why no begin of such a call goes over a path, wherever it is; NULL if it can.  The operation of
 * a program may be freed before the end, and it would run on another thread.  In memory reductions
 * are ours, since nobody may call the MPI; which they are, all ranks know. */
static const char *unfit(const cco_call *call, cco_path path)
{
    if (!(cco_coll_infos[call->coll].properties & CCO_REDUCTION))
        return NULL;
    if (!cco_op_predefined(call->op))
        return "the operation is the program's";
    if (path > CCO_PATH_MESSAGES &&
        (!cco_type_dense(call->recvtype) || cco_kernel_of(call->op, call->recvtype) == NULL))
        return "only the MPI can reduce this type";
    return NULL;
}

/* What a path lacks here; NULL if nothing. */
static const char *missing(const cco_comm *state, cco_path path)
{
    if (path > CCO_PATH_MESSAGES) {
        if (state->facts.progress < CCO_PROGRESS_MEMORY)
            return "there is no helper thread (CRESTA_ASYNC)";
        if (!state->begins_ready)
            return "the next blocking call on this communicator makes it ready";
        return cco_operation_pool_has(state, path) ? NULL : "its ranks share no memory for begins";
    }
    if (state->facts.progress < CCO_PROGRESS_MPI)
        return "there is no helper thread that may call the MPI (CRESTA_ASYNC=thread)";
    if (!state->begins_ready)
        return "the next blocking call on this communicator makes it ready";
    return cco_operation_pool_has(state, CCO_PATH_MESSAGES) ? NULL : "the MPI has too few tags";
}

static const char *lacking(const cco_comm *state, const cco_call *call, cco_path path)
{
    const char *why = unfit(call, path);
    return why != NULL ? why : missing(state, path);
}

static bool has_path(const cco_comm *state, const cco_way *way, const cco_call *call)
{
    return way->model->path != NULL && state->size > 1 && cco_arguments_valid(state, call);
}

cco_path cco_operation_path(const cco_comm *state, const cco_way *way, const cco_call *call,
                            const char **why)
{
    *why = NULL;
    if (!has_path(state, way, call))
        return CCO_PATH_NONE;
    const cco_path path = way->model->path(state, way, why);
    if (path > CCO_PATH_MESSAGES) {
        *why = lacking(state, call, path);
        if (*why == NULL)
            return path;
    }
    const char *stays = lacking(state, call, CCO_PATH_MESSAGES);
    if (*why == NULL)
        *why = stays;
    return stays == NULL ? CCO_PATH_MESSAGES : CCO_PATH_NONE;
}

static bool could(const cco_comm *state, cco_path path)
{
    const cco_progress_level needed = path > CCO_PATH_MESSAGES ? CCO_PROGRESS_MEMORY
                                                               : CCO_PROGRESS_MPI;
    return path != CCO_PATH_NONE && state->facts.progress >= needed;
}

bool cco_operation_needs_prepare(const cco_comm *state, const cco_way *way, const cco_call *call)
{
    const char *why;
    if (state->begins_ready || !has_path(state, way, call))
        return false;
    return could(state, way->model->path(state, way, &why)) || could(state, CCO_PATH_MESSAGES);
}

const char *cco_operation_lacks(const cco_comm *state, const cco_way *way, const cco_call *call)
{
    const char *never;
    if (!has_path(state, way, call))
        return NULL;
    const cco_path path = way->model->path(state, way, &never);
    if (never != NULL || unfit(call, path) != NULL)
        return NULL;
    return state->begins_ready || !could(state, path) ? missing(state, path) : NULL;
}

/* Types may be freed before the end: of those that are still needed then, another.  Blocks of
 * nothing may have none. */
static int hold(MPI_Datatype *type)
{
    return *type == MPI_DATATYPE_NULL || cco_type_predefined(*type) ? MPI_SUCCESS
                                                                    : cco_fresh_type(*type, type);
}

static void drop(MPI_Datatype *type)
{
    if (*type != MPI_DATATYPE_NULL && !cco_type_predefined(*type))
        PMPI_Type_free(type);
}

/* What is received in packed form is unpacked at the end. */
static int hold_types(cco_operation *o)
{
    cco_buffer *end = &o->bound.out;
    if (!o->bound.packs_out)
        return MPI_SUCCESS;
    if (end->types == NULL) {
        o->types = &end->type;
        const int rc = hold(o->types);
        o->held = rc == MPI_SUCCESS;
        return rc;
    }
    o->types = malloc((size_t)end->blocks * sizeof *o->types);
    if (o->types == NULL)
        return MPI_ERR_NO_MEM;
    memcpy(o->types, end->types, (size_t)end->blocks * sizeof *o->types);
    end->types = o->types;
    int rc = MPI_SUCCESS;
    while (rc == MPI_SUCCESS && o->held < end->blocks) {
        rc = hold(&o->types[o->held]);
        o->held += rc == MPI_SUCCESS;
    }
    return rc;
}

static void drop_types(cco_operation *o)
{
    for (int i = 0; i < o->held; i++)
        drop(&o->types[i]);
    if (o->types != &o->bound.out.type)
        free(o->types);
    o->types = NULL;
    o->held = 0;
}

/* Builds the schedule itself. */
static int make_own(cco_operation *o)
{
    cco_scheduled *own = &o->own;
    o->bound.problem.counts = o->algo->shares_counts ? own->counts : NULL;
    int rc = cco_plan_find(&own->plans, o->algo, &o->bound.problem, &o->plan);
    if (rc != MPI_SUCCESS)
        return rc;
    if (o->plan->engine == NULL)
        return MPI_ERR_INTERN;
    o->shares = false;
    return cco_scheduled_bind(own, o->plan, &o->bound.binding, o->bound.low) ? MPI_SUCCESS
                                                                             : MPI_ERR_NO_MEM;
}

static int start(cco_operation *o)
{
    o->starts = false;
    if (o->stream_set == NULL)
        cco_round_time_start(&o->round_time, o->plan);
    return cco_engine_start(o->plan->engine, o->shares ? &o->sharing : &o->bound.binding);
}

/* Describes and packs the call, builds its schedule, or the one that has to come before. */
static int make(cco_operation *o, cco_comm *state, const cco_way *way)
{
    int rc = cco_bound_make(&o->bound, state, &o->call, true, &o->own.workspace);
    if (rc == MPI_SUCCESS)
        rc = cco_scheduled_settle(state, way, &o->bound.problem, &o->algo);
    if (rc == MPI_SUCCESS)
        rc = hold_types(o);
    if (rc == MPI_SUCCESS)
        rc = cco_bound_pack(&o->bound);
    if (rc != MPI_SUCCESS)
        return rc;
    o->shares = o->algo->shares_counts;
    return o->shares ? cco_scheduled_share(&o->own, &o->bound.problem, &o->sharing, &o->plan)
                     : make_own(o);
}

bool cco_operation_progress(cco_operation *o, bool *moved)
{
    bool done = false;
    if (o->starts && (o->rc = start(o)) != MPI_SUCCESS)
        return true;
    const int at = cco_engine_at(o->plan->engine);
    o->rc = cco_engine_test(o->plan->engine, &done);
    *moved = *moved || cco_engine_at(o->plan->engine) != at;
    if (o->stream_set == NULL)
        cco_round_time_poll(&o->round_time, o->plan, at);
    if (o->rc == MPI_SUCCESS && done && o->shares) {
        o->rc = make_own(o);
        if (o->rc == MPI_SUCCESS)
            o->rc = start(o);
        done = false;
    }
    return done || o->rc != MPI_SUCCESS;
}

void cco_operation_end(cco_operation *o)
{
    if (o->rc == MPI_SUCCESS)
        o->rc = cco_bound_unpack(&o->bound);
    drop_types(o);
    cco_workspace_trim(&o->own.workspace);
}

/* It is not under way and will not be.  If that is so on this rank alone, what comes behind it on
 * its stream set must not be taken for its data. */
static int give_up(cco_operation *o, int error)
{
    if (o->stream_set != NULL && error != MPI_ERR_UNSUPPORTED_OPERATION)
        __atomic_store_n(&o->stream_set->stream.broken, true, __ATOMIC_RELAXED);
    drop_types(o);
    cco_operation_transport_done(o);
    cco_operation_pool_return(o);
    return error;
}

int cco_operation_begin(cco_comm *state, const cco_way *way, const cco_call *call, cco_path path,
                        MPI_Request *request)
{
    cco_operation *o = cco_operation_pool_take(state, path);
    if (o == NULL)
        return MPI_ERR_NO_MEM;
    o->call = *call;
    o->rc = MPI_SUCCESS;
    o->starts = o->counted = true;
    int rc = make(o, state, way);
    if (rc == MPI_SUCCESS && o->stream_set == NULL)
        rc = start(o);
    if (rc != MPI_SUCCESS)
        return give_up(o, rc);
    if (cco_operation_request(o, request) != MPI_SUCCESS)
        cco_fatal("the MPI refuses a generalized request");
    const cco_progress_level kind = cco_operation_level(o);
    cco_queue_add(o);
    if (o->stream_set != NULL) /* no later than now if it can */
        cco_queue_progress(true);
    cco_progress_thread_count(1, kind);
    return MPI_SUCCESS;
}
