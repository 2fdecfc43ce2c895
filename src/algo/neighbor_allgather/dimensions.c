/* SPDX-License-Identifier: BSD-3-Clause */
/* neighbor_allgather, neighbor_allgatherv "dimensions": in a Moore stencil ranks exchange all that
 * they have, dimension by dimension.
 *
 *   messages 2 d   bytes sent per rank (3^d - 1) n   scratch 2 (3^d - 1) n   (d: dimensions)
 *
 * After J. L. Träff, S. Hunold: Cartesian collective communication, ICPP 2019: as many bytes as
 * with a message for each edge.  A rank knows the size of each block that it passes on, since it
 * gets the block itself. */
#include "algo/algo.h"

#include "algo/pattern/neighbor.h"
#include "comm/stencil.h"

/* True if an offset has steps in the first dimensions only, and a rank there sends to this one. */
static bool is_known(const cco_stencil *st, int offset, int dims)
{
    int back[CCO_STENCIL_DIMS];
    for (int d = 0; d < st->ndims; d++) {
        back[d] = -cco_stencil_step(st, offset, d);
        if (d >= dims && back[d] != 0)
            return false;
    }
    return cco_stencil_has(st, back);
}

/* The offsets from which blocks come by a step, or, without one, that are known before it. */
static int neighbor_allgather_dimensions_list_blocks(const cco_stencil *st, int dim, int step,
                                                     int *offsets)
{
    int count = 0;
    for (int o = 0; o < st->offsets; o++)
        if (cco_stencil_step(st, o, dim) == step && is_known(st, o, dim + 1))
            offsets[count++] = o;
    return count;
}

static size_t neighbor_allgather_dimensions_bytes_of(const cco_span *at, const int *offsets,
                                                     int count)
{
    size_t n = 0;
    for (int i = 0; i < count; i++)
        n += at[offsets[i]].n;
    return n;
}

/* One message of all that is known, for both sides; the first dimension has no need of it. */
static cco_span neighbor_allgather_dimensions_pack(cco_sched *s, const cco_span *at,
                                                   const int *offsets, int count)
{
    size_t done = 0;
    if (count == 1)
        return at[offsets[0]];
    const cco_span all = cco_scratch(s, neighbor_allgather_dimensions_bytes_of(at, offsets, count));
    for (int i = 0; i < count; i++) {
        cco_copy(s, at[offsets[i]], cco_part(s, all, done, at[offsets[i]].n));
        done += at[offsets[i]].n;
    }
    cco_round(s);
    return all;
}

/* What a step brings, and where its blocks lie then. */
static cco_span neighbor_allgather_dimensions_take(cco_sched *s, cco_span *at, const int *offsets,
                                                   int count)
{
    size_t done = 0;
    const cco_span all = cco_scratch(s, neighbor_allgather_dimensions_bytes_of(at, offsets, count));
    for (int i = 0; i < count; i++) {
        const size_t n = at[offsets[i]].n;
        at[offsets[i]] = cco_part(s, all, done, n);
        done += n;
    }
    return all;
}

static void neighbor_allgather_dimensions_pass(cco_sched *s, const cco_problem *q, int dim,
                                               cco_span *at)
{
    const cco_stencil *st = q->near->stencil;
    int offsets[CCO_STENCIL_OFFSETS];
    int count = neighbor_allgather_dimensions_list_blocks(st, dim, 0, offsets);
    if (st->dims[dim] == 1) { /* of the ranks at both sides, this one, all is known */
        for (int i = 0; i < count; i++)
            for (int step = -1; step < 2; step += 2)
                at[offsets[i] + cco_stencil_along(st, dim, step) - st->offsets / 2] =
                    at[offsets[i]];
        return;
    }
    const cco_span known = neighbor_allgather_dimensions_pack(s, at, offsets, count);
    for (int step = -1; step < 2; step += 2) {
        const int before = cco_stencil_rank(st, dim, -step);
        count = neighbor_allgather_dimensions_list_blocks(st, dim, step, offsets);
        if (before >= 0)
            cco_recv(s, before, neighbor_allgather_dimensions_take(s, at, offsets, count));
    }
    for (int step = -1; step < 2; step += 2)
        if (cco_stencil_rank(st, dim, step) >= 0)
            cco_send(s, cco_stencil_rank(st, dim, step), known);
    cco_round(s);
}

static void neighbor_allgather_dimensions_build(cco_sched *s, const cco_problem *q)
{
    const cco_stencil *st = q->near->stencil;
    cco_span *at = cco_builder_memory(s, (size_t)st->offsets * sizeof *at);
    if (at == NULL)
        return;
    for (int o = 0; o < st->offsets; o++)
        if (st->in[o] >= 0)
            at[o] = cco_block(q, &q->out, st->in[o]); /* its size, until it is there */
    at[st->offsets / 2] = cco_whole(&q->in);
    for (int dim = 0; dim < st->ndims; dim++)
        neighbor_allgather_dimensions_pass(s, q, dim, at);
    for (int o = 0; o < st->offsets; o++)
        if (st->in[o] >= 0)
            cco_copy(s, at[o], cco_block(q, &q->out, st->in[o]));
}

const cco_algo cco_neighbor_allgather_dimensions = {
    .name = "dimensions",
    .doc = "a stencil of all ranks around one, dimension by dimension",
    .refuses = cco_neighbor_stencil_refuses,
    .build = neighbor_allgather_dimensions_build,
};
