/* SPDX-License-Identifier: BSD-3-Clause */
/* recorded.c - see recorded.h. */
#include "record/recorded.h"

#include <stdio.h>
#include <stdlib.h>

#include "config/config.h"
#include "call/data.h"
#include "mpi/dup_bare.h"

/* The program may free a derived type: keeps another. */
static bool recorded_hold(cco_recorded *r, MPI_Datatype *type)
{
    MPI_Datatype made;
    if (!cco_type_derived(*type))
        return true;
    if (cco_type_dup_bare(*type, &made) != MPI_SUCCESS)
        return false;
    r->types[r->held++] = *type = made;
    return true;
}

/* Those of a side; `type` is the member of the call, the array is a copy. */
static bool recorded_hold_side(cco_recorded *r, const cco_buffer *side, MPI_Datatype *type)
{
    MPI_Datatype *list = (MPI_Datatype *)(uintptr_t)side->types;
    if (side->blocks == 0)
        return true;
    if (list == NULL)
        return recorded_hold(r, type);
    for (int i = 0; i < side->blocks; i++)
        if (!recorded_hold(r, &list[i]))
            return false;
    return true;
}

/* Some calls have one type: those with one buffer, and reductions. */
static bool recorded_hold_types(cco_recorded *r, const cco_comm *state)
{
    const int properties = cco_coll_infos[r->call.coll].properties;
    cco_buffer in, out;
    cco_bound_ends(state, &r->call, &in, &out);
    const size_t most = (size_t)(in.blocks + out.blocks) + 1;
    r->types = malloc(most * sizeof *r->types);
    if (r->types == NULL)
        return false;
    const bool one = properties & CCO_REDUCTION || r->call.coll == CCO_BCAST ||
                     r->call.sendbuf == MPI_IN_PLACE;
    if (!one)
        return recorded_hold_side(r, &in, &r->call.sendtype) &&
               recorded_hold_side(r, &out, &r->call.recvtype);
    const bool done = recorded_hold_side(r, out.blocks > 0 ? &out : &in, &r->call.recvtype);
    if (r->call.coll == CCO_BCAST || properties & CCO_REDUCTION)
        r->call.sendtype = r->call.recvtype;
    return done;
}

/* Adds the memory of an end, block by block. */
static bool recorded_touch(cco_ranges *ranges, const cco_call *c, const cco_buffer *end)
{
    ptrdiff_t next = 0;
    for (int i = 0; i < end->blocks; i++) {
        const MPI_Datatype type = end->types != NULL ? end->types[i] : end->type;
        const ptrdiff_t n = (ptrdiff_t)cco_buffer_count(c, end, i);
        MPI_Aint low, reach, start, extent;
        if (n == 0 || cco_buffer_absent(c, end, i))
            continue;
        if (PMPI_Type_get_extent(type, &start, &extent) != MPI_SUCCESS ||
            PMPI_Type_get_true_extent(type, &low, &reach) != MPI_SUCCESS)
            return false;
        const ptrdiff_t at = cco_buffer_place(c, end, i, extent, next) + low;
        const ptrdiff_t span = (n - 1) * extent;
        const uintptr_t first = (uintptr_t)end->buffer + (uintptr_t)(at + (span < 0 ? span : 0));
        if (!cco_ranges_add(ranges, first, first + (uintptr_t)(reach + (span < 0 ? -span : span))))
            return false;
        next = at - low + n * extent;
    }
    return true;
}

/* The root of a bcast reads the one buffer. */
static bool touch_all(cco_recorded *r, const cco_comm *state)
{
    cco_buffer in, out;
    cco_touched *t = &r->touched;
    cco_bound_ends(state, &r->call, &in, &out);
    const bool gives = r->call.coll == CCO_BCAST && r->call.root == state->rank;
    const bool fine = recorded_touch(&t->read, &r->call, &in) &&
                      recorded_touch(gives ? &t->read : &t->written, &r->call, &out);
    cco_ranges_settle(&t->read);
    cco_ranges_settle(&t->written);
    return fine;
}

cco_recorded *cco_recorded_new(const cco_comm *state, const cco_way *way, const cco_call *call)
{
    cco_recorded *r = calloc(1, sizeof *r);
    if (r == NULL)
        return NULL;
    r->call = *call;
    r->way = *way;
    if (cco_copy_only_arrays(&r->call, &r->copies) == MPI_SUCCESS &&
        recorded_hold_types(r, state) && touch_all(r, state))
        return r;
    cco_recorded_free(r);
    return NULL;
}

void cco_recorded_free(cco_recorded *r)
{
    if (r == NULL)
        return;
    for (int i = 0; i < r->held; i++)
        PMPI_Type_free(&r->types[i]);
    free(r->types);
    cco_copies_free(r->copies);
    cco_touched_free(&r->touched);
    cco_workspace_free(&r->workspace);
    free(r->counts);
    cco_neighbors_drop(r->near);
    cco_message_levels_close(&r->levels);
    cco_sched_free(r->sched);
    free(r);
}

uint64_t cco_recorded_signature(const cco_recorded *r, const cco_comm *state)
{
    const int properties = cco_coll_infos[r->call.coll].properties;
    const bool sized = properties & CCO_SIZED;
    char text[128];
    snprintf(text, sizeof text, "%d %d %lld %s %s", (int)r->call.coll,
             properties & CCO_ROOTED ? r->call.root : 0,
             sized ? (long long)cco_bytes(&r->call, state->rank, state->size) : 0,
             r->way.model->name, r->way.algo != NULL ? r->way.algo->name : "");
    return cco_hash(0, text);
}

/* Why no schedule of ours can take part in a plan; NULL if it can. */
static const char *recorded_unfit(const cco_call *call, cco_path path)
{
    if (!(cco_coll_infos[call->coll].properties & CCO_REDUCTION))
        return NULL;
    if (!cco_op_predefined(call->op))
        return "its operation is the program's";
    if (!cco_type_dense(call->recvtype))
        return "it reduces elements with gaps";
    if (path == CCO_PATH_SEGMENT && cco_kernel_of(call->op, call->recvtype) == NULL)
        return "only the MPI can reduce its type";
    return NULL;
}

static cco_path path_of(cco_path named)
{
    switch (named) {
    case CCO_PATH_MESSAGES:
    case CCO_PATH_NODES:
    case CCO_PATH_SEGMENT:
        return named;
    case CCO_PATH_SHM_COPY_ONCE: /* merged messages are small */
    case CCO_PATH_SHM_AUTO:
        return CCO_PATH_SEGMENT;
    default:
        return CCO_PATH_NONE;
    }
}

void cco_recorded_find_path(cco_recorded *r, cco_comm *state)
{
    const char *why = NULL;
    if (r->way.model->path != NULL)
        r->path = path_of(r->way.model->path(state, &r->way, &why));
    if (r->path == CCO_PATH_NONE || why != NULL)
        r->why = "its model runs no schedules that can be merged";
    else
        r->why = recorded_unfit(&r->call, r->path);
    if (r->why != NULL)
        r->path = CCO_PATH_NONE;
    else if (state->size == 1) /* there is nobody to share memory with */
        r->path = CCO_PATH_MESSAGES;
}

int cco_recorded_bind(cco_recorded *r, const cco_comm *state)
{
    int rc = cco_bound_make(&r->bound, state, &r->call, true, &r->workspace);
    r->bound.problem.pieces = r->way.model->by_nodes;
    r->near = cco_neighbors_keep(r->bound.problem.near); /* the communicator may end first */
    if (rc == MPI_SUCCESS)
        rc = cco_scheduled_settle(state, &r->way, &r->bound.problem, &r->algo);
    r->operation = (cco_typed_op){r->bound.binding.layouts[CCO_OUT], r->bound.binding.operation};
    return rc;
}

int cco_recorded_build(cco_recorded *r)
{
    int rc = cco_plan_schedule(r->algo, &r->bound.problem, &r->sched);
    for (int i = 0; rc == MPI_SUCCESS && i < r->sched->count; i++)
        if (r->sched->steps[i].kind >= CCO_STEP_EXPOSE && r->sched->steps[i].kind < CCO_STEP_ROUND)
            rc = MPI_ERR_UNSUPPORTED_OPERATION; /* one-sided steps: no algorithm has them */
    return rc;
}

int cco_sched_sends(const cco_sched *s)
{
    int sends = 0;
    for (int i = 0; i < s->count; i++)
        sends += s->steps[i].kind == CCO_STEP_SEND;
    return sends;
}
