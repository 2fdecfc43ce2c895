/* SPDX-License-Identifier: BSD-3-Clause */
/* flat.c - see flat.h. */
#include "transport/shm/flat.h"

#include <string.h>

#include "transport/p2p/p2p.h"

enum {
    BLOCK = 8192, /* bytes of a result that stay in the nearest cache while operands pass */
    AHEAD = 2,    /* pieces shown before the one that is read, where every rank has a core */
};

/* One call on its way. */
typedef struct run {
    cco_board *board;
    const cco_flat *plan;
    const cco_problem *q;
    const cco_binding *binding;
} run;

static char *place(const run *r, cco_span span)
{
    return r->binding->base[span.base] + span.at;
}

/* What goes of a block in piece `k`: nothing beyond its end. */
static cco_span part(const run *r, cco_span block, uint64_t k)
{
    const size_t window = r->plan->window, at = k * window;
    block.n = block.n > at ? block.n - at : 0;
    block.n = block.n < window ? block.n : window;
    block.at += (ptrdiff_t)at;
    return block;
}

static void get(const run *r, cco_span to, const char *from)
{
    memcpy(place(r, to), from, to.n);
}

/* Reads a part of what `rank` shows, `at` bytes from the start of its slot. */
static void take(const run *r, cco_span block, int rank, uint64_t k, size_t at)
{
    const cco_span to = part(r, block, k);
    if (to.n > 0)
        get(r, to, cco_board_of(r->board, rank, k) + at);
}

/* What this rank gives to itself, without a slot. */
static void keep(const run *r, cco_span from, cco_span to)
{
    if (place(r, from) != place(r, to))
        get(r, to, place(r, from));
}

/* Where the slot of `writer` has the data for `reader`; it has none for the writer. */
static size_t lane(const run *r, int writer, int reader)
{
    return (size_t)(reader - (reader > writer)) * r->plan->window;
}

static void show(const run *r, cco_span block, uint64_t k, int reader)
{
    char *slot = cco_board_mine(r->board, k, reader);
    const cco_span from = part(r, block, k);
    memcpy(slot, place(r, from), from.n);
    cco_board_show(r->board, k);
}

static void show_lanes(const run *r, uint64_t k)
{
    const cco_problem *q = r->q;
    char *slot = cco_board_mine(r->board, k, CCO_BOARD_ALL);
    for (int i = 0; i < q->size; i++) {
        const cco_span from = part(r, cco_block(q, &q->in, i), k);
        if (i != q->rank)
            memcpy(slot + lane(r, q->rank, i), place(r, from), from.n);
    }
    cco_board_show(r->board, k);
}

static void show_piece(const run *r, uint64_t k)
{
    const cco_problem *q = r->q;
    switch (q->coll) {
    case CCO_BCAST:
        show(r, cco_whole(&q->out), k, CCO_BOARD_ALL);
        break;
    case CCO_GATHER:
    case CCO_GATHERV:
    case CCO_REDUCE:
        show(r, cco_whole(&q->in), k, q->root);
        break;
    case CCO_SCATTER:
    case CCO_SCATTERV:
    case CCO_ALLTOALL:
    case CCO_ALLTOALLV:
    case CCO_ALLTOALLW:
    case CCO_REDUCE_SCATTER:
    case CCO_REDUCE_SCATTER_BLOCK:
        show_lanes(r, k);
        break;
    default:
        show(r, cco_whole(&q->in), k, CCO_BOARD_ALL);
    }
}

/* to[i] = a[i] op b[i]; `to` may be b. */
static int combine(const run *r, const char *a, const char *b, char *to, size_t n)
{
    const cco_layout *layout = &r->binding->layouts[CCO_OUT];
    const cco_data from = {(char *)(uintptr_t)a, n / layout->size, layout};
    const cco_data into = {to, from.count, layout};
    if (to != b)
        memcpy(to, b, n);
    return cco_mpi_reduce(NULL, &from, &into, &r->binding->operation);
}

/* to = the operands of ranks `first` op ... op `last`, in this order, so that every rank gets the
 * same bits; at most BLOCK bytes.  This rank's own may lie where the result goes. */
static int fold_block(const run *r, const char **from, int first, int last, char *to, size_t n)
{
    _Alignas(64) char own[BLOCK];
    const int rank = r->q->rank;
    if (rank >= first && rank <= last && r->q->in.base == CCO_OUT)
        from[rank] = memcpy(own, from[rank], n);
    if (first == last)
        memcpy(to, from[last], n);
    const char *so_far = from[last];
    int rc = MPI_SUCCESS;
    for (int i = last - 1; i >= first && rc == MPI_SUCCESS; i--) {
        rc = combine(r, from[i], so_far, to, n);
        so_far = to;
    }
    return rc;
}

/* Folds piece `k` of the operands, from where the slots have them for this rank. */
static int fold(const run *r, int first, int last, uint64_t k, cco_span own, cco_span result)
{
    const cco_problem *q = r->q;
    const char *from[CCO_FLAT_RANKS], *now[CCO_FLAT_RANKS];
    const cco_span to = part(r, result, k);
    const bool scatters = q->coll == CCO_REDUCE_SCATTER || q->coll == CCO_REDUCE_SCATTER_BLOCK;
    const size_t step = BLOCK / q->unit * q->unit;
    int rc = MPI_SUCCESS;
    for (int i = first; to.n > 0 && i <= last; i++)
        from[i] = i == q->rank
                      ? place(r, part(r, own, k))
                      : cco_board_of(r->board, i, k) + (scatters ? lane(r, i, q->rank) : 0);
    for (size_t at = 0; at < to.n && rc == MPI_SUCCESS; at += step) {
        for (int i = first; i <= last; i++)
            now[i] = from[i] + at;
        const size_t n = to.n - at < step ? to.n - at : step;
        rc = fold_block(r, now, first, last, place(r, to) + at, n);
    }
    return rc;
}

static int fold_piece(const run *r, uint64_t k)
{
    const cco_problem *q = r->q;
    const cco_span in = cco_whole(&q->in), out = cco_whole(&q->out);
    switch (q->coll) {
    case CCO_REDUCE:
        return q->rank == q->root ? fold(r, 0, q->size - 1, k, in, out) : MPI_SUCCESS;
    case CCO_ALLREDUCE:
        return fold(r, 0, q->size - 1, k, in, out);
    case CCO_SCAN:
        return fold(r, 0, q->rank, k, in, out);
    case CCO_EXSCAN:
        return q->rank > 0 ? fold(r, 0, q->rank - 1, k, in, out) : MPI_SUCCESS;
    default:
        return fold(r, 0, q->size - 1, k, cco_block(q, &q->in, q->rank), out);
    }
}

/* Reads piece `k` of everybody's block, `first` before the others. */
static void take_all(const run *r, uint64_t k, bool lanes)
{
    const cco_problem *q = r->q;
    for (int i = 1; i < q->size; i++) {
        const int rank = (q->rank + i) % q->size;
        take(r, cco_block(q, &q->out, rank), rank, k, lanes ? lane(r, rank, q->rank) : 0);
    }
}

static void take_piece(const run *r, uint64_t k)
{
    const cco_problem *q = r->q;
    switch (q->coll) {
    case CCO_BARRIER:
        for (int i = 0; i < q->size; i++)
            cco_board_of(r->board, i, k);
        break;
    case CCO_BCAST:
        if (q->rank != q->root)
            take(r, cco_whole(&q->out), q->root, k, 0);
        break;
    case CCO_SCATTER:
    case CCO_SCATTERV:
        if (q->rank != q->root)
            take(r, cco_whole(&q->out), q->root, k, lane(r, q->root, q->rank));
        break;
    case CCO_GATHER:
    case CCO_GATHERV:
        if (q->rank == q->root)
            take_all(r, k, false);
        break;
    default:
        take_all(r, k, q->coll != CCO_ALLGATHER && q->coll != CCO_ALLGATHERV);
    }
}

/* Its own block, of the collectives that have one on this rank. */
static void keep_own(const run *r)
{
    const cco_problem *q = r->q;
    const cco_span in = cco_whole(&q->in), out = cco_whole(&q->out);
    switch (q->coll) {
    case CCO_BARRIER:
    case CCO_BCAST:
        break;
    case CCO_SCATTER:
    case CCO_SCATTERV:
        if (q->rank == q->root)
            keep(r, cco_block(q, &q->in, q->rank), out);
        break;
    case CCO_GATHER:
    case CCO_GATHERV:
        if (q->rank == q->root)
            keep(r, in, cco_block(q, &q->out, q->rank));
        break;
    case CCO_ALLGATHER:
    case CCO_ALLGATHERV:
        keep(r, in, cco_block(q, &q->out, q->rank));
        break;
    default:
        keep(r, cco_block(q, &q->in, q->rank), cco_block(q, &q->out, q->rank));
    }
}

/* Shows piece `k`, and as many after it as should be and have room. */
static uint64_t show_some(const run *r, uint64_t shown, uint64_t k)
{
    const uint64_t ahead = cco_pause_crowds() ? r->board->ring : AHEAD;
    while (shown < r->plan->gives &&
           (shown <= k || (shown <= k + ahead && cco_board_has_room(r->board, shown))))
        show_piece(r, shown++);
    return shown;
}

int cco_flat_run(cco_board *b, const cco_flat *plan, const cco_problem *q,
                 const cco_binding *binding)
{
    const run r = {b, plan, q, binding};
    const bool reduces = cco_coll_infos[q->coll].properties & CCO_REDUCTION;
    uint64_t shown = 0;
    int rc = MPI_SUCCESS;
    cco_board_begin(b);
    for (uint64_t k = 0; k < plan->rounds; k++) {
        shown = show_some(&r, shown, k);
        if (k == 0 && !reduces)
            keep_own(&r);
        if (!reduces)
            take_piece(&r, k);
        else if (rc == MPI_SUCCESS)
            rc = fold_piece(&r, k);
        cco_board_leave(b, k);
    }
    if (plan->rounds == 0 && !reduces)
        keep_own(&r);
    cco_board_end(b);
    return rc;
}
