/* SPDX-License-Identifier: BSD-3-Clause */
/* bound_pack.c - see bound_pack.h. */
#include "plan/bound_pack.h"

#include "core/data.h"
#include "core/unlike.h"

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
    const cco_unlike own = {.met = true,
                            .rank = q->rank,
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
