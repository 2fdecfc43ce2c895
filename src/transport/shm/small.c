/* SPDX-License-Identifier: BSD-3-Clause */
/* small.c - the collectives of flat.c for data that go in one piece: the same in fewer
 * instructions, since small calls last no longer than a few hundred of them. */
#include "transport/shm/small.h"

#include "transport/local/local.h"
#include "transport/shm/run.h"

static inline char *shm_small_block(const cco_run *r, const cco_side *side, int i)
{
    return r->binding->base[side->base] +
           (side->at != NULL ? side->at[i] : side->start + i * side->pitch);
}

static inline size_t shm_small_bytes(const cco_side *side, int i)
{
    return side->n != NULL ? side->n[i] : side->each;
}

/* What is not for this rank: NULL. */
__attribute__((noinline, cold)) static const char *
shm_small_differs(const cco_run *r, int rank, const char *slot, const char *lane, size_t n)
{
    cco_run_differs(r, rank, slot, lane, n);
    return NULL;
}

/* What a rank shows, NULL if it makes another call than the `expected` one with `n` bytes. */
static inline const char *as_expected(const cco_run *r, int rank, uint64_t expected, size_t n)
{
    const char *slot = cco_slot_ring_read(r->ring, rank, 0);
    return __builtin_expect(cco_slot_word(slot) == expected, 1)
               ? slot
               : shm_small_differs(r, rank, slot, NULL, n);
}

/* The slot of a rank that has `n` bytes where it gives those of its own. */
static inline const char *shm_small_of(const cco_run *r, int rank, size_t n)
{
    return as_expected(r, rank, cco_run_expected(r, n), n);
}

/* What `writer` shows for this rank, where it shows something else for each. */
static inline const char *lane_of(const cco_run *r, int writer, size_t n)
{
    const char *slot = shm_small_of(r, writer, n);
    if (slot == NULL)
        return NULL;
    const char *lane = slot + cco_run_lane(r, writer, r->q->rank);
    return r->stage->head == 0 || __builtin_expect(cco_run_head(lane) == n, 1)
               ? lane
               : shm_small_differs(r, writer, slot, lane, n);
}

static inline void shm_small_take(char *to, const char *from, size_t n)
{
    if (from != NULL)
        cco_run_copy(to, from, n);
}

/* Shows `n` bytes for `reader`; returns where they are. */
static inline char *shm_small_show(const cco_run *r, const char *from, size_t n, int reader)
{
    cco_slot_ring *ring = r->ring;
    char *slot = cco_slot_ring_reserve(ring, 0, reader);
    const uint64_t number = ring->call;
    cco_run_write(r, slot, from, n);
    cco_slot_ring_publish_number(slot, number, r->stage->word);
    return slot;
}

static void shm_small_show_lanes(const cco_run *r)
{
    const cco_problem *q = r->q;
    char *slot = cco_slot_ring_reserve(r->ring, 0, CCO_SLOT_READERS_ALL);
    for (int i = 0; i < q->size; i++)
        if (i != q->rank) {
            slot += r->stage->head;
            cco_run_set_head(r, slot, shm_small_bytes(&q->in, i));
            cco_run_write(r, slot, shm_small_block(r, &q->in, i), shm_small_bytes(&q->in, i));
            slot += r->stage->window;
        }
    cco_slot_ring_publish(r->ring, 0, r->stage->word);
}

/* What a rank gives to itself. */
static void shm_small_keep(char *to, const char *from, size_t n)
{
    if (to != from)
        cco_run_copy(to, from, n);
}

static int shm_small_bcast(const cco_run *r)
{
    const cco_problem *q = r->q;
    if (q->rank == q->root)
        shm_small_show(r, shm_small_block(r, &q->out, 0), q->out.each, CCO_SLOT_READERS_ALL);
    else
        shm_small_take(shm_small_block(r, &q->out, 0), shm_small_of(r, q->root, q->out.each),
                       q->out.each);
    return MPI_SUCCESS;
}

static void shm_small_take_all(const cco_run *r, bool per_reader)
{
    const cco_problem *q = r->q;
    for (int i = 1; i < q->size; i++) {
        const int rank = q->rank + i < q->size ? q->rank + i : q->rank + i - q->size;
        const size_t n = shm_small_bytes(&q->out, rank);
        if (n > 0)
            shm_small_take(shm_small_block(r, &q->out, rank),
                           per_reader ? lane_of(r, rank, n) : shm_small_of(r, rank, n), n);
    }
}

static int shm_small_gather(const cco_run *r)
{
    const cco_problem *q = r->q;
    const char *own = shm_small_block(r, &q->in, 0);
    if (q->rank != q->root) {
        shm_small_show(r, own, q->in.each, q->root);
        return MPI_SUCCESS;
    }
    shm_small_keep(shm_small_block(r, &q->out, q->rank), own, q->in.each);
    shm_small_take_all(r, false);
    return MPI_SUCCESS;
}

static int shm_small_allgather(const cco_run *r)
{
    const cco_problem *q = r->q;
    const char *own = shm_small_block(r, &q->in, 0);
    shm_small_show(r, own, q->in.each, CCO_SLOT_READERS_ALL);
    shm_small_keep(shm_small_block(r, &q->out, q->rank), own, q->in.each);
    shm_small_take_all(r, false);
    return MPI_SUCCESS;
}

static int shm_small_scatter(const cco_run *r)
{
    const cco_problem *q = r->q;
    if (q->rank != q->root) {
        if (q->out.each > 0)
            shm_small_take(shm_small_block(r, &q->out, 0), lane_of(r, q->root, q->out.each),
                           q->out.each);
        return MPI_SUCCESS;
    }
    shm_small_show_lanes(r);
    shm_small_keep(shm_small_block(r, &q->out, 0), shm_small_block(r, &q->in, q->rank),
                   q->out.each);
    return MPI_SUCCESS;
}

static int shm_small_alltoall(const cco_run *r)
{
    const cco_problem *q = r->q;
    shm_small_show_lanes(r);
    shm_small_keep(shm_small_block(r, &q->out, q->rank), shm_small_block(r, &q->in, q->rank),
                   shm_small_bytes(&q->in, q->rank));
    shm_small_take_all(r, true);
    return MPI_SUCCESS;
}

/* Nobody looks at a slot of its own: its line may be with those who wait for it. */
static int shm_small_barrier(const cco_run *r)
{
    char *own = cco_slot_ring_reserve(r->ring, 0, CCO_SLOT_READERS_ALL);
    const uint64_t number = r->ring->call, word = r->stage->word;
    cco_slot_ring_publish_number(own, number, word);
    const char *slot = (const char *)cco_slot_ring_slot(r->ring, 0, 0);
    for (int rank = 0; rank < r->q->size; rank++, slot += r->ring->share)
        if (rank != r->q->rank) {
            const char *data = cco_slot_ring_read_at(r->ring, (const uint64_t *)slot, number);
            if (__builtin_expect(cco_slot_word(data) != word, 0))
                cco_run_differs(r, rank, data, NULL, 0);
        }
    return MPI_SUCCESS;
}

/* This rank's own in place of what it must not take. */
static inline const char *shm_small_operand(const cco_run *r, int rank, const char *own,
                                            bool per_reader)
{
    if (rank == r->q->rank)
        return own;
    const char *from = per_reader ? lane_of(r, rank, 0) : as_expected(r, rank, r->stage->word, 0);
    return from != NULL ? from : own;
}

/* All operands at once, where the result cannot be written before they are read. */
static int fold_all(const cco_run *r, int first, int last, const char *own, bool per_reader,
                    size_t n)
{
    const char *from[CCO_FLAT_RANKS];
    for (int i = first; i <= last; i++)
        from[i] = shm_small_operand(r, i, own, per_reader);
    return cco_run_fold(r, from, first, last, shm_small_block(r, &r->q->out, 0), n);
}

/* Folds what the ranks show, and this rank's own.  A kernel goes straight to the result, unless
 * that would overwrite the operand before it is read. */
static inline __attribute__((always_inline)) int
shm_small_fold(const cco_run *r, int first, int last, const char *own, bool per_reader, size_t n)
{
    const cco_kernel kernel = r->binding->operation.kernel;
    const bool overwrites = per_reader && r->q->in.base == CCO_OUT;
    char *to = shm_small_block(r, &r->q->out, 0);
    if (kernel == NULL || (last > first && overwrites))
        return fold_all(r, first, last, own, per_reader, n);
    const char *so_far = shm_small_operand(r, last, own, per_reader);
    if (last == first)
        shm_small_keep(to, so_far, n);
    for (int i = last - 1; i >= first; i--) {
        kernel(shm_small_operand(r, i, own, per_reader), so_far, to, r->stage->count);
        so_far = to;
    }
    return MPI_SUCCESS;
}

/* Where this rank's operand, which is at `own`, can be read until the result is there.  In place,
 * the result overwrites it after the first of several steps; its slot, where `shown` is, keeps it.
 * That is slower, for the line may be with those who wait for it. */
static inline const char *own_operand(const cco_problem *q, const char *own, const char *shown)
{
    return q->in.base == CCO_OUT && q->size > 2 ? shown : own;
}

/* The most frequent of all: what every rank shows, by a kernel; nothing is looked up twice.
 * `own`, `shown`: where this rank has its operand, and where it shows it. */
static inline int fold_shown(const cco_run *r, const cco_problem *q, cco_kernel kernel,
                             const char *own, const char *shown)
{
    const cco_slot_ring *ring = r->ring;
    const size_t share = ring->share, count = r->stage->count;
    const uint64_t number = ring->call, word = r->stage->word;
    char *to = shm_small_block(r, &q->out, 0);
    const char *so_far = NULL;
    int rank = q->size - 1;
    const char *slot = shown - CCO_SLOT_HEAD + (ptrdiff_t)(rank - q->rank) * (ptrdiff_t)share;
    for (; rank >= 0; rank--, slot -= share) {
        const char *from = own;
        if (rank != q->rank) {
            from = cco_slot_ring_read_at(ring, (const uint64_t *)slot, number);
            if (__builtin_expect(cco_slot_word(from) != word, 0)) {
                cco_run_differs(r, rank, from, NULL, 0);
                from = own;
            }
        }
        if (so_far != NULL)
            kernel(from, so_far, to, count);
        so_far = so_far != NULL ? to : from;
    }
    return MPI_SUCCESS;
}

/* In place, a result overwrites this rank's operand: it is folded from the slot. */
static int shm_small_reduce(const cco_run *r)
{
    const cco_problem *q = r->q;
    const bool in_place = q->in.base == CCO_OUT;
    const char *own = shm_small_block(r, &q->in, 0);
    if (q->rank != q->root) {
        shm_small_show(r, own, q->in.each, q->root);
        return MPI_SUCCESS;
    }
    if (in_place)
        own = memcpy(cco_slot_ring_reserve(r->ring, 0, q->root), own, q->in.each);
    return shm_small_fold(r, 0, q->size - 1, own, false, q->in.each);
}

static int shm_small_scan(const cco_run *r)
{
    const cco_problem *q = r->q;
    const char *own = shm_small_block(r, &q->in, 0);
    if (r->stage->gives > 0)
        shm_small_show(r, own, q->in.each, CCO_SLOT_READERS_ALL);
    const int last = q->coll == CCO_SCAN ? q->rank : q->rank - 1;
    return last < 0 ? MPI_SUCCESS : shm_small_fold(r, 0, last, own, false, q->in.each);
}

static int reduce_scatter(const cco_run *r)
{
    const cco_problem *q = r->q;
    shm_small_show_lanes(r);
    if (q->out.each == 0)
        return MPI_SUCCESS;
    return shm_small_fold(r, 0, q->size - 1, shm_small_block(r, &q->in, q->rank), true,
                          q->out.each);
}

/* Slots that may be swapped, or that are written past the cache. */
__attribute__((noinline)) static int allreduce_large(const cco_run *r)
{
    const cco_problem *q = r->q;
    const char *own = shm_small_block(r, &q->in, 0);
    if (q->size == 1) {
        shm_small_keep(shm_small_block(r, &q->out, 0), own, q->out.each);
        return MPI_SUCCESS;
    }
    const char *shown = shm_small_show(r, own, q->in.each, CCO_SLOT_READERS_ALL);
    return shm_small_fold(r, 0, q->size - 1, own_operand(q, own, shown), false, q->in.each);
}

static int shm_small_allreduce(const cco_run *r)
{
    const cco_problem *q = r->q;
    const cco_kernel kernel = r->binding->operation.kernel;
    if (!r->stage->shown)
        return allreduce_large(r);
    const char *own = shm_small_block(r, &q->in, 0);
    const char *shown = shm_small_show(r, own, q->in.each, CCO_SLOT_READERS_ALL);
    own = own_operand(q, own, shown);
    return kernel != NULL ? fold_shown(r, q, kernel, own, shown)
                          : shm_small_fold(r, 0, q->size - 1, own, false, q->in.each);
}

/* A table, so that each has only the registers to save that it needs. */
int cco_run_small(const cco_run *r)
{
    static int (*const runs[CCO_COLLECTIVES])(const cco_run *) = {
        [CCO_BARRIER] = shm_small_barrier,
        [CCO_BCAST] = shm_small_bcast,
        [CCO_GATHER] = shm_small_gather,
        [CCO_GATHERV] = shm_small_gather,
        [CCO_SCATTER] = shm_small_scatter,
        [CCO_SCATTERV] = shm_small_scatter,
        [CCO_ALLGATHER] = shm_small_allgather,
        [CCO_ALLGATHERV] = shm_small_allgather,
        [CCO_ALLTOALL] = shm_small_alltoall,
        [CCO_ALLTOALLV] = shm_small_alltoall,
        [CCO_ALLTOALLW] = shm_small_alltoall,
        [CCO_REDUCE] = shm_small_reduce,
        [CCO_ALLREDUCE] = shm_small_allreduce,
        [CCO_REDUCE_SCATTER] = reduce_scatter,
        [CCO_REDUCE_SCATTER_BLOCK] = reduce_scatter,
        [CCO_SCAN] = shm_small_scan,
        [CCO_EXSCAN] = shm_small_scan,
    };
    return runs[r->q->coll](r);
}
