/* SPDX-License-Identifier: BSD-3-Clause */
/* operation.c - see operation.h. */
#include "progress/operation.h"

#include <stdlib.h>
#include <string.h>

#include "call/data.h"
#include "mpi/dup_bare.h"
#include "base/watch.h"
#include "plan/bound.h"

/* Types may be freed before the end: of those that are still needed then, another.  Blocks of
 * nothing may have none. */
static int operation_hold(MPI_Datatype *type)
{
    return cco_type_derived(*type) ? cco_type_dup_bare(*type, type) : MPI_SUCCESS;
}

static void operation_drop(MPI_Datatype *type)
{
    if (cco_type_derived(*type))
        PMPI_Type_free(type);
}

/* What is received in packed form is unpacked at the end. */
static int operation_hold_types(cco_operation *o)
{
    cco_buffer *end = &o->bound.out;
    if (!o->bound.packs_out)
        return MPI_SUCCESS;
    if (end->types == NULL) {
        o->types = &end->type;
        const int rc = operation_hold(o->types);
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
        rc = operation_hold(&o->types[o->held]);
        o->held += rc == MPI_SUCCESS;
    }
    return rc;
}

void cco_operation_drop(cco_operation *o)
{
    cco_node_map_drop(o->nodes);
    cco_neighbors_drop(o->near);
    o->nodes = NULL;
    o->near = NULL;
    cco_copies_free(o->copies);
    o->copies = NULL;
    for (int i = 0; i < o->held; i++)
        operation_drop(&o->types[i]);
    if (o->types != &o->bound.out.type)
        free(o->types);
    o->types = NULL;
    o->held = 0;
}

/* Builds the schedule itself. */
static int operation_make_own(cco_operation *o)
{
    cco_scheduled *own = &o->own;
    o->bound.problem.counts = cco_algo_shares(o->algo, o->call.coll) ? own->counts : NULL;
    int rc = cco_plan_find(&own->plans, o->algo, &o->bound.problem, &o->plan);
    if (rc == MPI_SUCCESS && o->plan->engine == NULL)
        rc = MPI_ERR_INTERN;
    o->shares = false;
    if (rc == MPI_SUCCESS && !cco_scheduled_bind(own, o->plan, &o->bound.binding, o->bound.low))
        rc = MPI_ERR_NO_MEM;
    return cco_scheduled_give_up(own, rc);
}

int cco_operation_start(cco_operation *o)
{
    o->starts = false;
    o->idle = 0;
    if (o->level == CCO_PROGRESS_MPI)
        cco_round_time_start(&o->round_time, o->plan);
    if (o->stream_set != NULL)
        o->stream_set->stream.shows = o->shows;
    return cco_engine_start(o->plan->engine, o->shares ? &o->sharing : &o->bound.binding);
}

/* Describes and packs the call. */
static int operation_describe(cco_operation *o, cco_comm *state, const cco_way *way)
{
    int rc = cco_bound_make(&o->bound, state, &o->call, true, &o->own.workspace);
    o->bound.problem.pieces = way->model->by_nodes;
    o->nodes = cco_node_map_keep(o->bound.problem.nodes); /* the communicator may end first */
    o->near = cco_neighbors_keep(o->bound.problem.near);
    if (rc == MPI_SUCCESS)
        rc = cco_scheduled_settle(state, way, &o->bound.problem, &o->algo);
    if (rc == MPI_SUCCESS)
        rc = operation_hold_types(o);
    return rc == MPI_SUCCESS ? cco_bound_pack(&o->bound) : rc;
}

/* Builds its schedule, or the one that has to come before. */
int cco_operation_make(cco_operation *o, cco_comm *state, const cco_way *way)
{
    int rc = operation_describe(o, state, way);
    if (rc != MPI_SUCCESS)
        return cco_scheduled_give_up(&o->own, rc);
    o->shares = cco_algo_shares(o->algo, o->call.coll);
    if (!o->shares)
        return operation_make_own(o);
    rc = cco_scheduled_share(&o->own, &o->bound.problem, &o->sharing, &o->plan);
    return cco_scheduled_give_up(&o->own, rc);
}

static int operation_land(void *owner, int block)
{
    const cco_operation *o = owner;
    return cco_bound_unpack_block(&o->bound, block);
}

/* The blocks that are there, if somebody wants to know.  Types are the MPI's to unpack.  While a
 * round begins, only what its own messages bring: a program that gets a block computes, and does
 * not move the messages that have to be answered before their data flow. */
static int operation_look(cco_operation *o, bool calls_mpi, bool *moved)
{
    cco_block_progress *l = __atomic_load_n(&o->landing, __ATOMIC_ACQUIRE);
    if (l == NULL || o->shares || (o->bound.packs_out && !calls_mpi))
        return MPI_SUCCESS;
    if (o->plan->landings == NULL)
        o->plan->landings = cco_block_progress_map_new(o->plan->engine, &o->plan->problem);
    if (o->plan->landings == NULL)
        return MPI_SUCCESS;
    const bool early = o->level == CCO_PROGRESS_MPI &&
                       cco_round_time_early(&o->round_time, o->plan);
    const int before = l->landed;
    int rc = cco_block_progress_look(l, o->plan->landings, o->plan->engine, early, operation_land,
                                     o);
    *moved = *moved || l->landed > before;
    if (rc != MPI_SUCCESS && cco_engine_at(o->plan->engine) < cco_engine_rounds(o->plan->engine))
        rc = cco_engine_stop(o->plan->engine, rc); /* a block was not unpacked: messages are left */
    return rc;
}

/* After many polls that moved nothing: whether what it waits for can still come. */
static int operation_look_around(cco_operation *o, bool moved)
{
    enum { MANY = 1 << 20 };
    o->idle = moved ? 0 : o->idle < MANY ? o->idle + 1 : o->idle - 8;
    return cco_watch_is_time((int)o->idle) ? cco_engine_lost(o->plan->engine) : MPI_SUCCESS;
}

bool cco_operation_progress(cco_operation *o, bool calls_mpi, bool *moved)
{
    bool done = false;
    if (o->starts && (o->rc = cco_operation_start(o)) != MPI_SUCCESS)
        return true;
    const int at = cco_engine_at(o->plan->engine);
    o->rc = cco_engine_test(o->plan->engine, &done);
    const bool went_on = cco_engine_at(o->plan->engine) != at;
    *moved = *moved || went_on;
    if (o->level == CCO_PROGRESS_MPI)
        cco_round_time_poll(&o->round_time, o->plan, at);
    if (o->rc == MPI_SUCCESS && done && o->shares) {
        o->rc = operation_make_own(o);
        if (o->rc == MPI_SUCCESS)
            o->rc = cco_operation_start(o);
        done = false;
    }
    if (o->rc == MPI_SUCCESS && !done)
        o->rc = operation_look(o, calls_mpi, moved);
    if (o->rc == MPI_SUCCESS && !done)
        o->rc = operation_look_around(o, went_on);
    return done || o->rc != MPI_SUCCESS;
}

void cco_operation_give_up(cco_operation *o, int error)
{
    o->rc = o->starts ? error : cco_engine_stop(o->plan->engine, error);
}

void cco_operation_end(cco_operation *o)
{
    const cco_block_progress *l = __atomic_load_n(&o->landing, __ATOMIC_ACQUIRE);
    if (o->rc == MPI_SUCCESS)
        o->rc = cco_bound_unpack_rest(&o->bound, l != NULL ? l->noted : NULL);
    if (o->ending.run != NULL)
        o->ending.run(o->ending.data, o->rc);
    cco_operation_drop(o);
    if (o->rc != MPI_SUCCESS)
        cco_workspace_leave(&o->own.workspace);
    else
        cco_workspace_trim(&o->own.workspace);
    __atomic_store_n(&o->ended, true, __ATOMIC_RELEASE);
}
