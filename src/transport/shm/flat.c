/* SPDX-License-Identifier: BSD-3-Clause */
/* flat.c - see flat.h. */
#include "transport/shm/flat.h"

#include <stdint.h>
#include <string.h>

#include "transport/p2p/p2p.h"

/* One call on its way. */
typedef struct run {
    cco_board *board;
    const cco_problem *q;
    const cco_binding *binding;
} run;

size_t cco_flat_shown(const cco_problem *q)
{
    size_t n = 0;
    switch (q->coll) {
    case CCO_BARRIER:
        return 0;
    case CCO_SCATTER:
    case CCO_ALLTOALL:
    case CCO_REDUCE_SCATTER_BLOCK:
        return (size_t)q->size * q->bytes;
    case CCO_REDUCE_SCATTER:
        for (int i = 0; i < q->size; i++)
            n += cco_block(q, &q->in, i).n;
        return n;
    case CCO_ALLGATHERV:
        for (int i = 0; i < q->size; i++)
            n = cco_block(q, &q->out, i).n > n ? cco_block(q, &q->out, i).n : n;
        return n;
    case CCO_GATHERV:
    case CCO_SCATTERV:
    case CCO_ALLTOALLV:
    case CCO_ALLTOALLW:
        return SIZE_MAX;
    default:
        return q->bytes;
    }
}

static char *place(const run *r, cco_span span)
{
    return r->binding->base[span.base] + span.at;
}

static void get(const run *r, cco_span to, const char *from)
{
    memcpy(place(r, to), from, to.n);
}

/* Shows `count` blocks of the send side, one after the other. */
static void show(const run *r, int count)
{
    char *slot = cco_board_mine(r->board);
    for (int i = 0; i < count; i++) {
        const cco_side *in = &r->q->in;
        const bool one = in->blocks == 1 && in->n == NULL;
        const cco_span span = one ? cco_whole(in) : cco_block(r->q, in, i);
        memcpy(slot, place(r, span), span.n);
        slot += span.n;
    }
    cco_board_show(r->board);
}

/* to = the data of `first` op ... op those of `last`, all from byte `at` of their slots; in the
 * order of ranks, so that every rank gets the same bits. */
static int fold(const run *r, int first, int last, size_t at, cco_span to)
{
    const cco_layout *layout = &r->binding->layouts[CCO_OUT];
    const cco_data into = {place(r, to), to.n / layout->size, layout};
    int rc = MPI_SUCCESS;
    get(r, to, cco_board_of(r->board, last) + at);
    for (int rank = last - 1; rank >= first && rc == MPI_SUCCESS; rank--) {
        const char *shown = cco_board_of(r->board, rank) + at;
        const cco_data from = {(char *)(uintptr_t)shown, into.count, layout};
        rc = cco_mpi_reduce(NULL, &from, &into, &r->binding->operation);
    }
    return rc;
}

static void wait_for_all(const run *r)
{
    for (int rank = 0; rank < r->q->size; rank++)
        cco_board_of(r->board, rank);
}

static void bcast(const run *r)
{
    const cco_span all = cco_whole(&r->q->out);
    if (r->q->rank == r->q->root) {
        memcpy(cco_board_mine(r->board), place(r, all), all.n);
        cco_board_show(r->board);
    } else {
        get(r, all, cco_board_of(r->board, r->q->root));
    }
}

/* The root's own block does not pass through its slot. */
static void gather(const run *r)
{
    const cco_problem *q = r->q;
    const cco_span in = cco_whole(&q->in);
    if (q->rank != q->root) {
        show(r, 1);
        return;
    }
    for (int i = 0; i < q->size; i++) {
        const cco_span block = cco_block(q, &q->out, i);
        if (i != q->rank)
            get(r, block, cco_board_of(r->board, i));
        else if (place(r, block) != place(r, in))
            get(r, block, place(r, in));
    }
}

static void scatter(const run *r)
{
    const cco_problem *q = r->q;
    const cco_span out = cco_whole(&q->out);
    if (q->rank != q->root) {
        get(r, out, cco_board_of(r->board, q->root) + (size_t)q->rank * q->bytes);
        return;
    }
    show(r, q->size);
    const cco_span own = cco_block(q, &q->in, q->rank);
    if (place(r, out) != place(r, own))
        get(r, out, place(r, own));
}

/* Also what others show of all ranks: from byte `at` of their slots. */
static void gather_all(const run *r, size_t at)
{
    for (int i = 0; i < r->q->size; i++) {
        const int rank = (r->q->rank + i) % r->q->size;
        get(r, cco_block(r->q, &r->q->out, rank), cco_board_of(r->board, rank) + at);
    }
}

static int reduce(const run *r)
{
    const cco_problem *q = r->q;
    show(r, 1);
    return q->rank == q->root ? fold(r, 0, q->size - 1, 0, cco_whole(&q->out)) : MPI_SUCCESS;
}

static int reduce_scatter(const run *r)
{
    const cco_problem *q = r->q;
    size_t before = 0;
    for (int i = 0; i < q->rank; i++)
        before += cco_block(q, &q->in, i).n;
    show(r, q->size);
    return fold(r, 0, q->size - 1, before, cco_whole(&q->out));
}

static int reduction(const run *r)
{
    const cco_problem *q = r->q;
    const int last = q->coll == CCO_ALLREDUCE ? q->size - 1
                     : q->coll == CCO_SCAN    ? q->rank
                                              : q->rank - 1;
    show(r, 1);
    return last >= 0 ? fold(r, 0, last, 0, cco_whole(&q->out)) : MPI_SUCCESS;
}

static int dispatch(const run *r)
{
    switch (r->q->coll) {
    case CCO_BARRIER:
        cco_board_mine(r->board);
        cco_board_show(r->board);
        wait_for_all(r);
        return MPI_SUCCESS;
    case CCO_BCAST:
        bcast(r);
        return MPI_SUCCESS;
    case CCO_GATHER:
        gather(r);
        return MPI_SUCCESS;
    case CCO_SCATTER:
        scatter(r);
        return MPI_SUCCESS;
    case CCO_ALLGATHER:
    case CCO_ALLGATHERV:
        show(r, 1);
        gather_all(r, 0);
        return MPI_SUCCESS;
    case CCO_ALLTOALL:
        show(r, r->q->size);
        gather_all(r, (size_t)r->q->rank * r->q->bytes);
        return MPI_SUCCESS;
    case CCO_REDUCE:
        return reduce(r);
    case CCO_REDUCE_SCATTER:
    case CCO_REDUCE_SCATTER_BLOCK:
        return reduce_scatter(r);
    default:
        return reduction(r);
    }
}

int cco_flat_run(cco_board *b, const cco_problem *q, const cco_binding *binding)
{
    const run r = {b, q, binding};
    cco_board_begin(b);
    const int rc = dispatch(&r);
    cco_board_end(b);
    return rc;
}
