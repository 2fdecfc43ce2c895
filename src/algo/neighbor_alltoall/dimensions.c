/* SPDX-License-Identifier: BSD-3-Clause */
/* neighbor_alltoall "dimensions": the blocks of a Moore stencil go dimension by dimension, those
 * that take the same step in one message.
 *
 *   messages 2 d   bytes sent per rank 2 d 3^(d-1) n   scratch 4 d 3^(d-1) n   (d: dimensions)
 *
 * After J. L. Träff, S. Hunold: Cartesian collective communication, ICPP 2019 (message combining).
 *
 * In three dimensions 26 blocks go in 6 messages, and each through up to 2 other ranks, so that
 * small blocks gain.  n is the same on all ranks: neighbors agree on it, and each edge of a
 * stencil lies in a triangle or is a loop. */
#include "algo/algo.h"

#include "algo/pattern/neighbor.h"
#include "comm/stencil.h"

/* True if the block with an offset is on this rank after its steps in the first dimensions. */
static bool is_here(const cco_stencil *st, int offset, int dims)
{
    int from[CCO_STENCIL_DIMS]; /* where it was behind us, and where it will be before us */
    for (int d = 0; d < st->ndims; d++) {
        const int step = cco_stencil_step(st, offset, d);
        from[d] = d < dims ? -step : step;
    }
    return cco_stencil_has(st, from);
}

/* The offsets of blocks that take a step, of those that are here. */
static int neighbor_alltoall_dimensions_list_blocks(const cco_stencil *st, int dim, int step,
                                                    bool taken, int *offsets)
{
    int count = 0;
    for (int o = 0; o < st->offsets; o++)
        if (cco_stencil_step(st, o, dim) == step && is_here(st, o, dim + taken))
            offsets[count++] = o;
    return count;
}

/* What a step in a dimension brings. */
typedef struct message {
    int count, offsets[CCO_STENCIL_OFFSETS];
    cco_span span;
} message;

/* Packs the blocks that go. */
static void neighbor_alltoall_dimensions_pack(cco_sched *s, const cco_problem *q,
                                              const cco_span *at, int dim, int step, message *m)
{
    size_t n = 0;
    m->count = neighbor_alltoall_dimensions_list_blocks(q->near->stencil, dim, step, false,
                                                        m->offsets);
    for (int i = 0; i < m->count; i++)
        n += at[m->offsets[i]].n;
    m->span = cco_scratch(s, n);
    n = 0;
    for (int i = 0; i < m->count; i++) {
        const cco_span block = at[m->offsets[i]];
        cco_copy(s, block, cco_part(s, m->span, n, block.n));
        n += block.n;
    }
}

static void neighbor_alltoall_dimensions_take(cco_sched *s, const cco_problem *q, int dim, int step,
                                              message *m)
{
    m->count = neighbor_alltoall_dimensions_list_blocks(q->near->stencil, dim, step, true,
                                                        m->offsets);
    m->span = cco_scratch(s, (size_t)m->count * q->out.each);
}

/* From a dimension of one rank nothing leaves: its blocks have taken their step. */
static void neighbor_alltoall_dimensions_pass(cco_sched *s, const cco_problem *q, int dim,
                                              cco_span *at, message m[4])
{
    const cco_stencil *st = q->near->stencil;
    if (st->dims[dim] == 1)
        return;
    for (int up = 0; up < 2; up++) {
        neighbor_alltoall_dimensions_pack(s, q, at, dim, 2 * up - 1, &m[up]);
        neighbor_alltoall_dimensions_take(s, q, dim, 2 * up - 1, &m[2 + up]);
    }
    cco_round(s);
    for (int up = 0; up < 2; up++) {
        const int before = cco_stencil_rank(st, dim, 1 - 2 * up);
        if (before >= 0)
            cco_recv(s, before, m[2 + up].span);
    }
    for (int up = 0; up < 2; up++) {
        const int behind = cco_stencil_rank(st, dim, 2 * up - 1);
        if (behind >= 0)
            cco_send(s, behind, m[up].span);
    }
    cco_round(s);
    for (int up = 0; up < 2; up++)
        for (int i = 0; i < m[2 + up].count; i++)
            at[m[2 + up].offsets[i]] = cco_part(s, m[2 + up].span, (size_t)i * q->out.each,
                                                q->out.each);
}

static void neighbor_alltoall_dimensions_build(cco_sched *s, const cco_problem *q)
{
    const cco_stencil *st = q->near->stencil;
    cco_span *at = cco_builder_memory(s, (size_t)st->offsets * sizeof *at);
    message *messages = cco_builder_memory(s, 4 * sizeof *messages);
    if (at == NULL || messages == NULL)
        return;
    for (int o = 0; o < st->offsets; o++)
        if (st->out[o] >= 0)
            at[o] = cco_block(q, &q->in, st->out[o]);
    for (int dim = 0; dim < st->ndims; dim++)
        neighbor_alltoall_dimensions_pass(s, q, dim, at, messages);
    for (int o = 0; o < st->offsets; o++)
        if (st->in[o] >= 0)
            cco_copy(s, at[o], cco_block(q, &q->out, st->in[o]));
}

const cco_algo cco_neighbor_alltoall_dimensions = {
    .name = "dimensions",
    .doc = "a stencil of all ranks around one, dimension by dimension",
    .refuses = cco_neighbor_stencil_refuses,
    .build = neighbor_alltoall_dimensions_build,
};
