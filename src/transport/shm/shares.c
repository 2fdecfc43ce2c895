/* SPDX-License-Identifier: BSD-3-Clause */
/* shares.c - allreduce and reduce of larger data: every rank folds its share of each piece and
 * shows the result, so that no rank reads all that all others show.
 *
 * Piece k of the vector takes two of the slot ring: 2 k for the operands, 2 k + 1 for the results.
 * The results of a piece are collected when the operands of the next are shown: they had time to
 * come. After R. Rabenseifner: Optimization of collective reduction operations, ICCS 2004. */
#include "transport/shm/shares.h"
#include "transport/shm/run.h"

/* The share of a rank in a part of the vector: lines, of whole elements. */
static cco_span shares_share(const cco_run *r, cco_span part, int rank)
{
    const size_t line = r->q->unit * CCO_SLOT_LINE;
    const size_t each = (part.n / (size_t)r->q->size + line) / line * line;
    const size_t at = (size_t)rank * each;
    part.n = part.n > at ? part.n - at : 0;
    part.n = part.n < each ? part.n : each;
    part.at += (ptrdiff_t)at;
    return part;
}

static bool shares_collects(const cco_problem *q)
{
    return q->coll == CCO_ALLREDUCE || q->rank == q->root;
}

static cco_span shares_part_of(const cco_run *r, const cco_side *side, uint64_t k)
{
    return cco_run_part(r, cco_whole(side), k);
}

static void show_operand(const cco_run *r, uint64_t k)
{
    char *slot = cco_slot_ring_reserve(r->ring, 2 * k, CCO_SLOT_READERS_ALL);
    cco_run_give(r, cco_whole(&r->q->in), k, slot);
    cco_run_show(r, 2 * k);
}

static uint64_t shares_show_some(const cco_run *r, uint64_t shown, uint64_t k)
{
    while (shown < cco_run_gives(r) && (shown <= k || (shown <= k + cco_run_ahead(r) &&
                                                       cco_slot_ring_has_room(r->ring, 2 * shown))))
        show_operand(r, shown++);
    return shown;
}

/* Whether another rank reads the results of this one. */
static bool is_read(const cco_problem *q)
{
    return q->coll == CCO_ALLREDUCE || q->rank != q->root;
}

/* Where the operand of a rank lies for piece `k`; NULL: it makes another call. */
static const char *shares_operand(const cco_run *r, int rank, uint64_t k)
{
    return cco_run_data(r, rank, 2 * k,
                        (cco_shown_at){.at = cco_run_start(r, k), .n = r->q->in.each});
}

/* The first piece alone says where the data of a rank are that need no slot: a rank without a
 * share of that piece may have one of a later piece, which is smaller. */
static void find_operands(const cco_run *r)
{
    for (int i = 0; i < r->q->size; i++)
        if (i != r->q->rank)
            shares_operand(r, i, 0);
}

/* Folds this rank's share to where it goes on this rank, and shows it to those who collect it. */
static int fold_share(const cco_run *r, uint64_t k)
{
    const cco_problem *q = r->q;
    const char *from[CCO_FLAT_RANKS];
    const cco_span whole = shares_part_of(r, &q->in, k), mine = shares_share(r, whole, q->rank);
    if (mine.n == 0) {
        if (k == 0)
            find_operands(r);
        return MPI_SUCCESS;
    }
    for (int i = 0; i < q->size; i++) {
        const char *theirs = i != q->rank ? shares_operand(r, i, k) : NULL;
        from[i] = theirs != NULL ? theirs + (mine.at - whole.at) : cco_run_place(r, mine);
    }
    const int reader = q->coll == CCO_ALLREDUCE ? CCO_SLOT_READERS_ALL : q->root;
    char *slot = is_read(q) ? cco_slot_ring_reserve(r->ring, 2 * k + 1, reader) : NULL;
    char *own = shares_collects(q)
                    ? cco_run_place(r, shares_share(r, shares_part_of(r, &q->out, k), q->rank))
                    : slot;
    const int rc = cco_run_fold(r, from, 0, q->size - 1, own, mine.n);
    if (slot != NULL && own != slot)
        cco_writes_copy(&r->ring->writes, r->stage->use, r->stage->pattern, slot, own, mine.n);
    if (slot != NULL)
        cco_slot_ring_publish(r->ring, 2 * k + 1, r->stage->word);
    return rc;
}

/* The share of the result that another rank has, which has shown an operand of this call: each rank
 * has looked at all operands before. */
static void collect_from(const cco_run *r, int rank, cco_span to, uint64_t k)
{
    if (to.n == 0 || cco_run_strange(r, rank))
        return;
    memcpy(cco_run_place(r, to), cco_slot_ring_read(r->ring, rank, 2 * k + 1), to.n);
}

static void shares_collect(const cco_run *r, uint64_t k)
{
    const cco_problem *q = r->q;
    for (int i = 1; i < q->size && shares_collects(q); i++) {
        const int rank = (q->rank + i) % q->size;
        collect_from(r, rank, shares_share(r, shares_part_of(r, &q->out, k), rank), k);
    }
    cco_slot_ring_release(r->ring, 2 * k + 1);
}

bool cco_run_shares_found(const cco_run *r)
{
    const cco_problem *q = r->q;
    if (r->region >= 0) {
        show_operand(r, 0);
    } else {
        cco_slot_ring_reserve(r->ring, 0, CCO_SLOT_READERS_ALL);
        cco_run_show(r, 0);
    }
    find_operands(r);
    return r->region >= 0 && cco_run_all_found(r, 0, q->size - 1);
}

int cco_run_shares(const cco_run *r)
{
    uint64_t shown = r->found->ranks != 0;
    int rc = MPI_SUCCESS;
    for (uint64_t k = 0; k < r->stage->rounds; k++) {
        shown = shares_show_some(r, shown, k);
        if (k > 0)
            shares_collect(r, k - 1);
        const int one = fold_share(r, k);
        rc = rc == MPI_SUCCESS ? one : rc;
        cco_slot_ring_release(r->ring, 2 * k);
    }
    if (r->stage->rounds > 0)
        shares_collect(r, r->stage->rounds - 1);
    return rc;
}
