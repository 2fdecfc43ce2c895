/* SPDX-License-Identifier: BSD-3-Clause */
/* flat.c - see flat.h. */
#include "transport/shm/run.h"
#include "transport/shm/lost.h"
#include "transport/shm/small.h"
#include "transport/shm/shares.h"

/* Into what this rank gets. */
static void flat_keep(const cco_run *r, char *to, const char *from, size_t n)
{
    if (r->stage->past)
        cco_copy_nontemporal(to, from, n);
    else
        memcpy(to, from, n);
}

/* Where a slot of `writer` has the data for this rank. */
static size_t flat_offset(const cco_run *r, int writer)
{
    return r->stage->per_reader ? cco_run_lane(r, writer, r->q->rank) : 0;
}

/* Reads a part of what `rank` shows; all at once of what the kernel reads. */
static void flat_take(const cco_run *r, cco_span block, int rank, uint64_t k)
{
    cco_span to = cco_run_part(r, block, k);
    if (to.n == 0)
        return;
    const char *from = cco_run_data(
        r, rank, k, (cco_shown_at){flat_offset(r, rank), cco_run_start(r, k), block.n});
    if (from == NULL)
        return;
    if (!cco_run_remote(r, rank))
        flat_keep(r, cco_run_place(r, to), from, to.n);
    else if (k == 0)
        cco_pull_read(r->reach->pull, rank, from, cco_run_place(r, to),
                      block.n - cco_run_start(r, 0));
}

static void flat_show(const cco_run *r, cco_span block, uint64_t k)
{
    char *slot = cco_slot_ring_reserve(r->ring, k, cco_run_reader(r));
    cco_run_give(r, block, k, slot);
    cco_run_show(r, k);
}

static void flat_show_lanes(const cco_run *r, uint64_t k)
{
    const cco_problem *q = r->q;
    char *slot = cco_slot_ring_reserve(r->ring, k, CCO_SLOT_READERS_ALL);
    for (int i = 0; i < q->size; i++)
        if (i != q->rank) {
            const cco_span block = cco_block(q, &q->in, i);
            char *lane = slot + cco_run_lane(r, q->rank, i);
            cco_run_set_head(r, lane, block.n);
            cco_run_give(r, block, k, lane);
        }
    cco_run_show(r, k);
}

static void show_piece(const cco_run *r, uint64_t k)
{
    const cco_problem *q = r->q;
    if (r->stage->per_reader)
        flat_show_lanes(r, k);
    else
        flat_show(r, cco_whole(q->coll == CCO_BCAST ? &q->out : &q->in), k);
}

/* The operand of a rank; this one's own in place of what it must not take. */
static const char *flat_operand(const cco_run *r, int rank, uint64_t k, cco_span own)
{
    const char *mine = cco_run_place(r, cco_run_part(r, own, k)), *from = NULL;
    if (rank != r->q->rank)
        from = cco_run_data(r, rank, k,
                            (cco_shown_at){flat_offset(r, rank), cco_run_start(r, k), own.n});
    return from != NULL ? from : mine;
}

/* Folds piece `k` of the operands, from where the slots have them for this rank; all at once if
 * none has a slot. */
static int flat_fold(const cco_run *r, int first, int last, uint64_t k, cco_span own,
                     cco_span result)
{
    const char *from[CCO_FLAT_RANKS];
    cco_span to = cco_run_part(r, result, k);
    if (k > 0 && cco_run_all_found(r, first, last))
        return MPI_SUCCESS;
    for (int i = first; to.n > 0 && i <= last; i++)
        from[i] = flat_operand(r, i, k, own);
    if (to.n > 0 && cco_run_all_found(r, first, last))
        to.n = result.n - cco_run_start(r, k);
    return cco_run_fold(r, from, first, last, cco_run_place(r, to), to.n);
}

static int fold_piece(const cco_run *r, uint64_t k)
{
    const cco_problem *q = r->q;
    const cco_span in = cco_whole(&q->in), out = cco_whole(&q->out);
    switch (q->coll) {
    case CCO_REDUCE:
        return q->rank == q->root ? flat_fold(r, 0, q->size - 1, k, in, out) : MPI_SUCCESS;
    case CCO_ALLREDUCE:
        return flat_fold(r, 0, q->size - 1, k, in, out);
    case CCO_SCAN:
        return flat_fold(r, 0, q->rank, k, in, out);
    case CCO_EXSCAN:
        return q->rank > 0 ? flat_fold(r, 0, q->rank - 1, k, in, out) : MPI_SUCCESS;
    default:
        return flat_fold(r, 0, q->size - 1, k, cco_block(q, &q->in, q->rank), out);
    }
}

/* Reads piece `k` of every other rank's block, each rank in another order. */
static void flat_take_all(const cco_run *r, uint64_t k)
{
    const cco_problem *q = r->q;
    for (int i = 1; i < q->size; i++) {
        const int rank = (q->rank + i) % q->size;
        flat_take(r, cco_block(q, &q->out, rank), rank, k);
    }
}

static void take_piece(const cco_run *r, uint64_t k)
{
    const cco_problem *q = r->q;
    const int shape = cco_coll_infos[q->coll].out;
    if (shape & CCO_EACH && cco_blocks(shape, q->rank == q->root, q->size) > 0)
        flat_take_all(r, k);
    else if (shape == CCO_ONE && q->rank != q->root) /* from the root: no others show anything */
        flat_take(r, cco_whole(&q->out), q->root, k);
}

/* This rank's block of a side. */
static cco_span flat_own_of(const cco_problem *q, const cco_side *side, int shape)
{
    return shape & CCO_EACH ? cco_block(q, side, q->rank) : cco_whole(side);
}

/* What this rank gives to itself, without a slot, and how much of it is done. */
typedef struct own_block {
    const char *from;
    char *to;
    size_t n, done;
} own_block;

static own_block own_block_of(const cco_run *r)
{
    const cco_problem *q = r->q;
    const cco_coll_info *info = &cco_coll_infos[q->coll];
    const bool root = q->rank == q->root;
    if (cco_blocks(info->in, root, q->size) == 0 || cco_blocks(info->out, root, q->size) == 0)
        return (own_block){.n = 0};
    const cco_span from = flat_own_of(q, &q->in, info->in), to = flat_own_of(q, &q->out, info->out);
    const bool in_place = cco_run_place(r, from) == cco_run_place(r, to);
    return (own_block){cco_run_place(r, from), cco_run_place(r, to), in_place ? 0 : to.n, 0};
}

static void keep_until(const cco_run *r, own_block *own, size_t end)
{
    const size_t most = end < own->n ? end : own->n;
    if (most <= own->done)
        return;
    flat_keep(r, own->to + own->done, own->from + own->done, most - own->done);
    own->done = most;
}

/* How much of its own block a root has copied when `k` pieces of the others begin: all, or a part
 * where all of it goes past the caches, so that others write meanwhile all of the time. */
static size_t kept_by(const cco_run *r, size_t n, uint64_t k)
{
    if (!r->stage->past || k >= r->stage->rounds)
        return n;
    return n / r->stage->rounds * k / CCO_SLOT_LINE * CCO_SLOT_LINE;
}

/* Shows piece `k`, and as many after it as should be and have room. */
static uint64_t flat_show_some(const cco_run *r, uint64_t shown, uint64_t k)
{
    while (shown < cco_run_gives(r) && (shown <= k || (shown <= k + cco_run_ahead(r) &&
                                                       cco_slot_ring_has_room(r->ring, shown))))
        show_piece(r, shown++);
    return shown;
}

/* Data that move, piece after piece.  What stays on this rank goes in between, in pieces too: they
 * are in the cache if they have just been shown, and others have something to read meanwhile.  The
 * root of a scatter has nothing to wait for, and does it last; that of a gather first, mostly. */
static void flat_move(const cco_run *r)
{
    const cco_coll_info *info = &cco_coll_infos[r->q->coll];
    const bool last = info->in & CCO_AT_ROOT, rooted = info->properties & CCO_ROOTED;
    own_block own = r->stage->last ? own_block_of(r) : (own_block){.n = 0};
    uint64_t shown = 0;
    for (uint64_t k = 0; k < r->stage->rounds; k++) {
        shown = flat_show_some(r, shown, k);
        if (!last)
            keep_until(r, &own, rooted ? kept_by(r, own.n, k + 1) : cco_run_start(r, k + 1));
        take_piece(r, k);
        cco_slot_ring_release(r->ring, k);
    }
    keep_until(r, &own, own.n);
}

static int flat_reduce(const cco_run *r)
{
    uint64_t shown = 0;
    int rc = MPI_SUCCESS;
    for (uint64_t k = 0; k < r->stage->rounds; k++) {
        shown = flat_show_some(r, shown, k);
        const int one = fold_piece(r, k);
        rc = rc == MPI_SUCCESS ? one : rc;
        cco_slot_ring_release(r->ring, k);
    }
    return rc;
}

/* True if all that this rank gives lies in a region. */
static bool gives_from(const cco_run *r, int region)
{
    const cco_problem *q = r->q;
    const cco_side *side = q->coll == CCO_BCAST ? &q->out : &q->in;
    if (side->blocks <= 1 && side->n == NULL)
        return cco_region_holds(r->reach->regions, region, q->rank,
                                cco_run_place(r, cco_whole(side)), side->each);
    for (int i = 0; i < q->size; i++) {
        const cco_span block = cco_block(q, side, i);
        if (i != q->rank &&
            !cco_region_holds(r->reach->regions, region, q->rank, cco_run_place(r, block), block.n))
            return false;
    }
    return true;
}

/* Whether what this rank gives pays for waiting at the end. */
static bool is_large(const cco_stage *s)
{
    enum { LARGE = 8 << 10 }; /* bytes of a piece */
    return (s->gives > 0 && s->window >= LARGE) || (s->gives > 1 && s->window >= sizeof(uint64_t));
}

/* Whether a block that this rank gives is large enough for the kernel. */
static bool gives_enough(const cco_run *r)
{
    const cco_problem *q = r->q;
    bool enough = r->reach->least == 0;
    for (int i = 0; i < q->in.blocks && !enough; i++)
        enough = i != q->rank && cco_block(q, &q->in, i).n >= r->reach->least;
    return enough;
}

/* The region that this rank gives from, if any. */
static int region_of(const cco_run *r)
{
    const cco_regions *regions = r->reach->regions;
    for (int i = 0; regions != NULL && i < regions->count; i++)
        if (gives_from(r, i))
            return i;
    return r->reach->pull != NULL && !cco_pull_failed(r->reach->pull) && gives_enough(r)
               ? CCO_RUN_OWN
               : CCO_RUN_SLOTS;
}

/* Where this rank gives from: small data go through slots, and so do operands that the result
 * overwrites while others may still read them. */
static int flat_place_of(const cco_run *r)
{
    const bool reduces = cco_coll_infos[r->q->coll].properties & CCO_REDUCTION;
    if (r->reach == NULL || !r->stage->direct || !is_large(r->stage) ||
        (reduces && r->q->in.base == CCO_OUT))
        return CCO_RUN_SLOTS;
    return region_of(r);
}

/* A reduction in wide shares, if every rank shows where its operand is: all see what all show.
 * Results overwrite only what has been read. */
static bool run_wide(cco_run *r, int *rc)
{
    const cco_problem *q = r->q;
    const cco_stage *before = r->stage;
    cco_stage stage = *before;
    stage.shares = true;
    stage.window = stage.wide;
    stage.rounds = (q->bytes + stage.wide - 1) / stage.wide;
    stage.gives = 1;
    r->stage = &stage;
    r->region = region_of(r);
    const bool all = cco_run_shares_found(r);
    if (all)
        *rc = cco_run_shares(r);
    if (q->coll == CCO_ALLREDUCE) /* the results of all say that they have read */
        r->region = CCO_RUN_SLOTS;
    r->stage = before;
    return all;
}

/* Data that were read where they lie are right only if their rank has not left the call meanwhile
 * because of a failure: it may have written there again. */
static void check_found(const cco_run *r)
{
    const cco_slot_ring *b = r->ring;
    __atomic_thread_fence(__ATOMIC_ACQUIRE); /* the look comes after the reads */
    for (int i = 0; b->watch != NULL && !b->over && i < r->q->size; i++)
        if (r->found->ranks >> i & 1 && cco_lost_left_with(b, i) != MPI_SUCCESS)
            cco_lost_give_up(b, i);
}

static int run_pieces(cco_run *r)
{
    cco_direct_buffers found = {.ranks = 0, .remote = 0};
    int rc = MPI_SUCCESS;
    r->found = &found;
    if (r->stage->wide > 0 && r->reach != NULL && r->reach->pull != NULL) {
        if (run_wide(r, &rc)) {
            check_found(r);
            return rc;
        }
        found.ranks = found.remote = 0;
        cco_slot_ring_end(r->ring);
        cco_slot_ring_begin(r->ring, r->stage->swaps);
    }
    r->region = flat_place_of(r);
    if (r->stage->shares)
        rc = cco_run_shares(r);
    else if (cco_coll_infos[r->q->coll].properties & CCO_REDUCTION)
        rc = flat_reduce(r);
    else
        flat_move(r);
    if (found.ranks != 0)
        check_found(r);
    return rc;
}

static int run_stage(cco_run *r)
{
    cco_slot_ring_begin(r->ring, r->stage->swaps);
    r->ring->stamp = r->stage->stamp;
    const int rc = r->stage->small ? cco_run_small(r) : run_pieces(r);
    cco_slot_ring_end(r->ring);
    if (r->stage->pieces > 1)
        r->ring->round += r->stage->pieces - 1;
    if (r->region >= 0)
        cco_slot_ring_wait_for_end(r->ring, cco_run_reader(r));
    return rc == MPI_SUCCESS ? r->ring->error : rc;
}

/* Calls are counted on both slot rings, also by ranks that have nothing left. */
static int run_last(const cco_flat *plan, cco_run *r, cco_slot_ring *rings)
{
    const uint64_t strangers = r->ring->strangers;
    r->ring = &rings[plan->stage[1].ring];
    if (plan->stage[0].last) {
        cco_slot_ring_begin(r->ring, (cco_slot_rounds){0, false});
        cco_slot_ring_end(r->ring);
        return MPI_SUCCESS;
    }
    r->ring->strangers = strangers;
    r->stage = &plan->stage[1];
    r->region = CCO_RUN_SLOTS;
    return run_stage(r);
}

void cco_flat_is_part(cco_flat *plan, uint64_t stamp)
{
    for (int i = 0; i < plan->stages; i++) {
        cco_stage *s = &plan->stage[i];
        s->word = s->word - s->base + stamp;
        s->base = s->stamp = stamp;
    }
}

int cco_flat_run_small(cco_slot_ring *rings, const cco_stage *stage, const cco_problem *q,
                       const cco_binding *binding)
{
    cco_run r = {&rings[stage->ring], stage, q, binding, NULL, NULL, CCO_RUN_SLOTS};
    if (r.ring->pair)
        return cco_elsewhere_end(r.ring, run_stage(&r));
    r.ring->stamp = stage->stamp;
    cco_slot_ring_begin_own(r.ring);
    const int rc = cco_run_small(&r);
    cco_slot_ring_end_own(r.ring);
    return (rc | r.ring->error) == MPI_SUCCESS ? MPI_SUCCESS : cco_elsewhere_end(r.ring, rc);
}

int cco_flat_run(cco_slot_ring *rings, const cco_flat *plan, const cco_problem *q,
                 const cco_binding *binding, const cco_direct_access *reach)
{
    const cco_stage *first = &plan->stage[0];
    cco_run r = {&rings[first->ring], first, q, binding, reach, NULL, CCO_RUN_SLOTS};
    int rc = run_stage(&r);
    if (plan->stages > 1) {
        const int last = run_last(plan, &r, rings);
        rc = rc == MPI_SUCCESS ? last : rc;
    }
    for (int i = 0; i < plan->stages && rc != MPI_SUCCESS; i++)
        rc = cco_elsewhere_end(&rings[plan->stage[i].ring], rc);
    return rc;
}

int cco_flat_meet(cco_slot_ring *ring, uint64_t stamp)
{
    const cco_stage stage = {.window = 1,
                             .gives = 1,
                             .rounds = 1,
                             .small = true,
                             .last = true,
                             .stamp = stamp,
                             .base = stamp,
                             .word = stamp};
    const cco_problem q = {.coll = CCO_BARRIER, .rank = ring->rank, .size = ring->size};
    const cco_binding binding = {.base = {NULL}};
    return cco_flat_run_small(ring, &stage, &q, &binding);
}
