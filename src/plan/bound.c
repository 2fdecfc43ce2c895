/* SPDX-License-Identifier: BSD-3-Clause */
/* bound.c - see bound.h. */
#include "plan/bound.h"

#include <stdint.h>
#include <stdlib.h>

#include "call/data.h"
#include "base/own_lines.h"
#include "plan/alias.h"
#include "call/unlike.h"

/* Looks a datatype up.  Handles of derived types may come to mean another
 * type, so that only a predefined one is remembered. */
static int bound_look_up(cco_workspace *workspace, MPI_Datatype type, cco_element *e)
{
    if (workspace->last.size > 0 && workspace->last.type == type) {
        *e = workspace->last;
        return MPI_SUCCESS;
    }
    *e = (cco_element){.type = type};
    if (!cco_is_type(type))
        return MPI_ERR_TYPE;
    MPI_Aint start;
    int rc = PMPI_Type_get_extent(type, &start, &e->extent);
    if (rc == MPI_SUCCESS)
        rc = PMPI_Type_get_true_extent(type, &e->low, &e->reach);
    if (rc != MPI_SUCCESS)
        return rc;
    e->size = (size_t)cco_type_size(type);
    e->dense = cco_type_dense(type);
    if (cco_type_predefined(type))
        workspace->last = *e;
    return MPI_SUCCESS;
}

static cco_layout layout_of(const cco_element *e)
{
    const ptrdiff_t step = e->extent < 0 ? -e->extent : e->extent;
    if (e->size == 0)
        return cco_layout_of_bytes;
    return (cco_layout){e->size, e->extent, e->reach > step ? (size_t)(e->reach - step) : 0,
                        e->dense, e->type};
}

/* True if the elements of an end are no bytes where they lie. */
static int bound_has_gaps(const cco_call *c, const cco_buffer *end, cco_workspace *workspace,
                          bool *gaps)
{
    cco_element e;
    *gaps = false;
    for (int i = 0; i < (end->types != NULL ? end->blocks : end->blocks > 0); i++) {
        if (cco_buffer_absent(c, end, i))
            continue;
        const int rc = bound_look_up(workspace, end->types != NULL ? end->types[i] : end->type, &e);
        if (rc != MPI_SUCCESS)
            return rc;
        *gaps = *gaps || !e.dense;
    }
    return MPI_SUCCESS;
}

/* Room for the sizes and places of the blocks of an end, which are at most so many.  Both ends of a
 * call ask for the same. */
static int give_arrays(cco_side *side, cco_workspace *workspace, int most, bool second, size_t **n,
                       ptrdiff_t **at)
{
    if (workspace->n == NULL || workspace->blocks < most) {
        free(workspace->n);
        workspace->n = cco_own_lines(4 * (size_t)most * sizeof *workspace->n);
        workspace->blocks = workspace->n != NULL ? most : 0;
    }
    if (workspace->n == NULL)
        return MPI_ERR_NO_MEM;
    *n = workspace->n + (second ? 2 : 0) * most;
    *at = (ptrdiff_t *)(*n + most);
    side->n = *n;
    side->at = *at;
    return MPI_SUCCESS;
}

/* A side with blocks of unlike sizes, types or distances. */
static int fill_uneven(cco_side *side, const cco_call *c, const cco_buffer *end, bool packed,
                       cco_workspace *workspace, int most)
{
    size_t *n;
    ptrdiff_t *at, next = 0;
    cco_element e;
    int rc = give_arrays(side, workspace, most, side->base != CCO_IN, &n, &at);
    for (int i = 0; i < end->blocks && rc == MPI_SUCCESS; i++) {
        if (cco_buffer_absent(c, end, i))
            e = (cco_element){.size = 1, .extent = 1};
        else
            rc = bound_look_up(workspace, end->types != NULL ? end->types[i] : end->type, &e);
        if (rc == MPI_SUCCESS && cco_buffer_count(c, end, i) < 0)
            rc = MPI_ERR_COUNT;
        if (rc != MPI_SUCCESS)
            break;
        n[i] = (size_t)cco_buffer_count(c, end, i) * e.size;
        at[i] = packed ? next : cco_buffer_place(c, end, i, e.extent, next);
        next = packed ? next + (ptrdiff_t)n[i]
                      : at[i] + (ptrdiff_t)cco_buffer_count(c, end, i) * e.extent;
    }
    return rc;
}

/* Describes an end as a side; `layout` is that of its elements. */
static int make_side(cco_bound *f, cco_side *side, const cco_call *c, const cco_buffer *end,
                     cco_base base, bool packed, cco_workspace *workspace)
{
    cco_element e = {.size = 1, .extent = 1};
    *side = (cco_side){.base = base, .blocks = end->blocks, .layout = (int)base};
    cco_layout *layout = &f->binding.layouts[base];
    *layout = cco_layout_of_bytes;
    if (end->blocks == 0)
        return MPI_SUCCESS;
    if (end->types == NULL) {
        const int rc = bound_look_up(workspace, end->type, &e);
        if (rc != MPI_SUCCESS)
            return rc;
        if (!e.dense && !packed)
            *layout = layout_of(&e);
    }
    if (end->counts != NULL)
        return fill_uneven(side, c, end, packed, workspace, cco_most_blocks(&f->problem));
    if (end->count < 0)
        return MPI_ERR_COUNT;
    side->each = (size_t)end->count * e.size;
    side->pitch = packed ? (ptrdiff_t)side->each : (ptrdiff_t)end->count * e.extent;
    return MPI_SUCCESS;
}

/* Where a packed end's data are kept; NULL when memory runs out. */
static char *bound_stage(const cco_side *side, cco_workspace *workspace)
{
    size_t n = side->n == NULL ? side->each * (size_t)side->blocks : 0;
    for (int i = 0; side->n != NULL && i < side->blocks; i++)
        n += side->n[i];
    return cco_workspace_room(workspace, side->base, n);
}

/* One block of a side as a side of its own. */
static cco_side own_block(const cco_problem *q, const cco_side *side)
{
    const cco_span own = cco_block(q, side, q->rank);
    return (cco_side){
        .base = own.base, .blocks = 1, .layout = own.layout, .start = own.at, .each = own.n};
}

static bool bound_gathers(cco_coll coll)
{
    return cco_coll_infos[coll].properties & CCO_GATHERS;
}

static bool bound_scatters(cco_coll coll)
{
    return cco_coll_infos[coll].properties & CCO_SCATTERS;
}

/* The neighbors to which this rank gives, and whether any gives to it. */
static cco_degrees bound_exchanged(const cco_comm *state, cco_coll coll)
{
    cco_degrees d = cco_comm_blocks(state, coll);
    if (cco_is_neighbor(coll) && state->topology.near != NULL)
        d.in = cco_neighbors_any_source(state->topology.near);
    return d;
}

static void find_ends_of_reduction(const cco_comm *state, const cco_call *c, cco_buffer *in,
                                   cco_buffer *out)
{
    cco_buffers_of_reduction(c, state->rank, state->size, bound_exchanged(state, c->coll), in, out);
}

static int make_reduction(cco_bound *f, const cco_comm *state, const cco_call *c,
                          cco_workspace *workspace)
{
    cco_problem *q = &f->problem;
    cco_element e;
    find_ends_of_reduction(state, c, &f->in, &f->out);
    int rc = bound_look_up(workspace, f->in.type, &e);
    if (rc != MPI_SUCCESS)
        return rc;
    q->unit = e.size > 0 ? e.size : 1;
    f->binding.operation.kernel = cco_kernel_of(c->op, f->in.type);
    f->binding.operation.fold = cco_fold_of(c->op, f->in.type);
    f->low = e.low;
    rc = make_side(f, &q->in, c, &f->in, CCO_IN, false, workspace);
    if (rc == MPI_SUCCESS)
        rc = make_side(f, &q->out, c, &f->out, CCO_OUT, false, workspace);
    for (int base = 0; base < CCO_BASES; base++)
        f->binding.layouts[base] = layout_of(&e);
    if (f->in_place) {
        q->in.base = CCO_OUT;
        q->in.layout = CCO_OUT;
    }
    return rc;
}

/* What MPI_IN_PLACE stands for lies in the other buffer. */
static void settle_in_place(cco_bound *f, cco_coll coll)
{
    cco_problem *q = &f->problem;
    if (bound_gathers(coll))
        q->in = own_block(q, &q->out);
    else if (bound_scatters(coll))
        q->out = own_block(q, &q->in);
}

/* How many bytes a side has of this rank's own. */
static size_t own_bytes(const cco_problem *q, const cco_side *side, int shape)
{
    return (shape & CCO_EACH ? cco_block(q, side, q->rank) : cco_whole(side)).n;
}

/* Blocks that are all alike, or this rank's own, get `n` bytes. */
static void bound_shorten(const cco_problem *q, cco_side *side, int shape, size_t n)
{
    if (side->n != NULL && shape & CCO_EACH)
        ((size_t *)(uintptr_t)side->n)[q->rank] = n; /* of the workspace */
    else
        side->each = n;
}

/* What this rank gives to itself has one size, or the call is wrong: then it goes on with the
 * lesser one, since others take part in it. */
static void settle_own(cco_bound *f, const cco_comm *state)
{
    cco_problem *q = &f->problem;
    const cco_coll_info *info = &cco_coll_infos[q->coll];
    const bool root = q->rank == q->root;
    if (f->in_place || cco_is_neighbor(q->coll) || cco_blocks(info->in, root, q->size) == 0 ||
        cco_blocks(info->out, root, q->size) == 0)
        return;
    f->gives = own_bytes(q, &q->in, info->in);
    f->takes = own_bytes(q, &q->out, info->out);
    if (f->gives == f->takes)
        return;
    const size_t n = f->gives < f->takes ? f->gives : f->takes;
    bound_shorten(q, &q->in, info->in, n);
    bound_shorten(q, &q->out, info->out, n);
    q->bytes = q->bytes > 0 ? n : 0;
    f->differs = state;
}

/* The ends that mean something on this rank; blocks of an alltoall* in place are both sent and
 * received. */
static void find_ends(cco_bound *f, const cco_comm *state, const cco_call *c)
{
    cco_buffers_of_movement(c, state->rank, state->size, cco_comm_blocks(state, c->coll), &f->in,
                            &f->out);
    if (f->in_place && !bound_gathers(c->coll) && !bound_scatters(c->coll))
        f->in = f->out;
    else if (f->in_place)
        (bound_gathers(c->coll) ? &f->in : &f->out)->blocks = 0;
}

static int make_movement(cco_bound *f, const cco_comm *state, const cco_call *c, bool packed,
                         cco_workspace *workspace)
{
    cco_problem *q = &f->problem;
    bool in_gaps, out_gaps;
    find_ends(f, state, c);
    f->packs_in = f->in_place && !bound_gathers(c->coll) && !bound_scatters(c->coll);
    int rc = bound_has_gaps(c, &f->in, workspace, &in_gaps);
    if (rc == MPI_SUCCESS)
        rc = bound_has_gaps(c, &f->out, workspace, &out_gaps);
    if (rc != MPI_SUCCESS)
        return rc;
    f->packs_in = f->packs_in || (in_gaps && (packed || f->in.types != NULL));
    f->packs_out = out_gaps && (packed || f->out.types != NULL);
    rc = make_side(f, &q->in, c, &f->in, CCO_IN, f->packs_in, workspace);
    if (rc == MPI_SUCCESS)
        rc = make_side(f, &q->out, c, &f->out, CCO_OUT, f->packs_out, workspace);
    f->binding.layouts[CCO_TMP] = cco_layout_of_bytes;
    if (rc != MPI_SUCCESS)
        return rc;
    if (f->packs_in)
        f->binding.base[CCO_IN] = bound_stage(&q->in, workspace);
    if (f->packs_out)
        f->binding.base[CCO_OUT] = bound_stage(&q->out, workspace);
    if ((f->packs_in && f->binding.base[CCO_IN] == NULL) ||
        (f->packs_out && f->binding.base[CCO_OUT] == NULL))
        return MPI_ERR_NO_MEM;
    if (f->in_place)
        settle_in_place(f, c->coll);
    settle_own(f, state);
    return MPI_SUCCESS;
}

/* The operations of the standard commute; others say whether they do. */
static int bound_commutes(MPI_Op op, bool *commutative)
{
    int flag = 1;
    const int rc = cco_op_predefined(op) ? MPI_SUCCESS : PMPI_Op_commutative(op, &flag);
    *commutative = flag;
    return rc;
}

/* Only arguments that are significant on this rank may say so. */
static bool in_place(const cco_call *c, int rank)
{
    const bool rooted = cco_coll_infos[c->coll].properties & CCO_ROOTED;
    if (!cco_takes_in_place(c->coll))
        return false;
    if ((rooted && rank != c->root) || cco_coll_infos[c->coll].in == CCO_NONE)
        return false;
    if (cco_coll_infos[c->coll].properties & CCO_REDUCTION && cco_aliased(c, rank))
        return true;
    return (bound_scatters(c->coll) ? c->recvbuf : c->sendbuf) == MPI_IN_PLACE;
}

int cco_bound_make(cco_bound *f, const cco_comm *state, const cco_call *call, bool packed,
                   cco_workspace *workspace)
{
    const int properties = cco_coll_infos[call->coll].properties;
    cco_problem *q = &f->problem;
    *f = (cco_bound){.call = call, .in_place = in_place(call, state->rank)};
    *q = (cco_problem){.coll = call->coll,
                       .rank = state->rank,
                       .size = state->size,
                       .root = properties & CCO_ROOTED ? call->root : 0,
                       .commutative = true,
                       .unit = 1,
                       .nodes = state->nodes.map,
                       .near = properties & CCO_NEIGHBORS ? state->topology.near : NULL,
                       .layouts = f->binding.layouts};
    if (properties & CCO_SIZED && !(properties & CCO_COUNTS))
        q->bytes = (size_t)cco_bytes(call, state->rank, state->size);
    f->binding.base[CCO_IN] = (char *)(uintptr_t)call->sendbuf;
    f->binding.base[CCO_OUT] = call->recvbuf;
    f->binding.operation.op = call->op;
    if (!(properties & CCO_REDUCTION))
        return make_movement(f, state, call, packed, workspace);
    const int rc = bound_commutes(call->op, &q->commutative);
    return rc == MPI_SUCCESS ? make_reduction(f, state, call, workspace) : rc;
}

bool cco_bound_ends(const cco_comm *state, const cco_call *call, cco_buffer *in, cco_buffer *out)
{
    cco_bound f = {.in_place = in_place(call, state->rank)};
    if (cco_coll_infos[call->coll].properties & CCO_REDUCTION)
        find_ends_of_reduction(state, call, &f.in, &f.out);
    else
        find_ends(&f, state, call);
    *in = f.in;
    *out = f.out;
    return f.in_place;
}

/* Packs or unpacks block `i` of an end, from or to where its side has it. */
static int bound_pack_transfer(const cco_bound *f, const cco_buffer *end, const cco_side *side,
                               int i, bool back)
{
    const MPI_Datatype type = end->types != NULL ? end->types[i] : end->type;
    const size_t count = (size_t)cco_buffer_count(f->call, end, i);
    if (cco_buffer_absent(f->call, end, i))
        return MPI_SUCCESS;
    char *ours = f->binding.base[side->base] +
                 (side->at != NULL ? side->at[i] : side->start + i * side->pitch);
    MPI_Aint low, extent;
    const int rc = PMPI_Type_get_extent(type, &low, &extent);
    if (rc != MPI_SUCCESS)
        return rc;
    const ptrdiff_t next = (ptrdiff_t)count * extent * i; /* blocks without places are alike */
    char *theirs = end->buffer + cco_buffer_place(f->call, end, i, extent, next);
    return back ? cco_type_unpack(theirs, count, type, ours)
                : cco_type_pack(ours, theirs, count, type);
}

/* A block of MPI_PROC_NULL stays as it is. */
static bool is_nobodys(const cco_bound *f, int i, bool received)
{
    const cco_neighbors *near = f->problem.near;
    const cco_coll_info *info = &cco_coll_infos[f->problem.coll];
    const bool listed = !(info->properties & CCO_REDUCTION) && (received || info->in == CCO_NEAR);
    return near != NULL && listed && (received ? near->in : near->out)[i] == CCO_NO_PEER;
}

static int transfer_all(const cco_bound *f, const cco_buffer *end, const cco_side *side, bool back,
                        const bool *done)
{
    int rc = MPI_SUCCESS;
    for (int i = 0; i < end->blocks && rc == MPI_SUCCESS; i++)
        if (!is_nobodys(f, i, back) && (done == NULL || !done[i]))
            rc = bound_pack_transfer(f, end, side, i, back);
    return rc;
}

int cco_bound_pack(const cco_bound *f)
{
    const cco_problem *q = &f->problem;
    int rc = f->packs_in ? transfer_all(f, &f->in, &q->in, false, NULL) : MPI_SUCCESS;
    if (rc != MPI_SUCCESS || !f->packs_out)
        return rc;
    if (q->coll == CCO_BCAST && q->rank == q->root)
        return bound_pack_transfer(f, &f->out, &q->out, 0, false);
    if (f->in_place && cco_coll_infos[q->coll].properties & CCO_GATHERS)
        return bound_pack_transfer(f, &f->out, &q->out, q->rank, false);
    return MPI_SUCCESS;
}

static int tell_own(const cco_bound *f)
{
    const cco_problem *q = &f->problem;
    const cco_unlike own = {.rank = q->rank,
                            .here = cco_stamp(q->coll, q->root, f->takes),
                            .there = cco_stamp(q->coll, q->root, f->gives)};
    cco_unlike_tell(f->differs->name, q->rank, q->size, &own);
    return MPI_ERR_TRUNCATE;
}

int cco_bound_unpack_rest(const cco_bound *f, const bool *done)
{
    if (f->differs != NULL)
        return tell_own(f);
    if (!f->packs_out || (f->problem.coll == CCO_BCAST && f->problem.rank == f->problem.root))
        return MPI_SUCCESS;
    return transfer_all(f, &f->out, &f->problem.out, true, done);
}

int cco_bound_unpack(const cco_bound *f)
{
    return cco_bound_unpack_rest(f, NULL);
}

int cco_bound_unpack_block(const cco_bound *f, int block)
{
    if (!f->packs_out || is_nobodys(f, block, true))
        return MPI_SUCCESS;
    return bound_pack_transfer(f, &f->out, &f->problem.out, block, true);
}
