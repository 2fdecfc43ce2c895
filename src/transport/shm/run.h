/* SPDX-License-Identifier: BSD-3-Clause */
/* run.h - what flat.c, small.c and shares.c have in common: a call on its way over a slot ring. */
#ifndef CCO_SHM_RUN_H
#define CCO_SHM_RUN_H

#include <string.h>

#include "call/collectives.h"
#include "transport/shm/elsewhere.h"
#include "transport/shm/flat.h"

/* Where ranks give data that need no slot. */
typedef struct cco_direct_buffers {
    uint64_t ranks;  /* bit per rank: found, */
    uint64_t remote; /* in memory of its own */
    const char *data[CCO_FLAT_RANKS];
} cco_direct_buffers;

/* Where a rank's data lie that are in no region. */
enum { CCO_RUN_SLOTS = -1, CCO_RUN_OWN = CCO_REGIONS };

typedef struct cco_run {
    cco_slot_ring *ring;
    const cco_stage *stage;
    const cco_problem *q;
    const cco_binding *binding;
    const cco_direct_access *reach; /* NULL: nothing */
    cco_direct_buffers *found;
    int region; /* where this rank's data lie */
} cco_run;

static inline char *cco_run_place(const cco_run *r, cco_span span)
{
    return r->binding->base[span.base] + span.at;
}

/* memcpy, without a call for a single word: most small reductions have one. */
static inline void cco_run_copy(char *to, const char *from, size_t n)
{
    uint64_t word;
    if (n != sizeof word) {
        memcpy(to, from, n);
        return;
    }
    memcpy(&word, from, sizeof word);
    memcpy(to, &word, sizeof word);
}

/* Copies into a slot. */
static inline void cco_run_write(const cco_run *r, char *to, const char *from, size_t n)
{
    if (__builtin_expect(n == sizeof(uint64_t), 1))
        memcpy(to, from, sizeof(uint64_t));
    else
        cco_writes_copy(&r->ring->writes, r->stage->use, r->stage->pattern, to, from, n);
}

/* Where piece `k` begins in every block. */
static inline size_t cco_run_start(const cco_run *r, uint64_t k)
{
    return r->stage->before + k * r->stage->window;
}

/* What goes of a block in piece `k`: nothing beyond its end. */
static inline cco_span cco_run_part(const cco_run *r, cco_span block, uint64_t k)
{
    const size_t window = r->stage->window, at = cco_run_start(r, k);
    block.n = block.n > at ? block.n - at : 0;
    block.n = block.n < window ? block.n : window;
    block.at += (ptrdiff_t)at;
    return block;
}

/* Who reads what this rank gives. */
static inline int cco_run_reader(const cco_run *r)
{
    const bool root_only = cco_coll_infos[r->q->coll].out & CCO_AT_ROOT && !r->stage->shares;
    return root_only ? r->q->root : CCO_SLOT_READERS_ALL;
}

/* Pieces that this rank shows: the first says where all are, if they need no slot. */
static inline uint64_t cco_run_gives(const cco_run *r)
{
    return r->region >= 0 ? 1 : r->stage->gives;
}

/* Writes the `k`th part of a block to its place in a slot, or where the block is. */
static inline void cco_run_give(const cco_run *r, cco_span block, uint64_t k, char *to)
{
    const cco_span from = cco_run_part(r, block, k);
    if (r->region < 0) {
        const cco_writes_use use = k < r->stage->alone ? r->stage->use : CCO_WRITES_ONE_WAY;
        cco_writes_copy(&r->ring->writes, use, r->stage->pattern, to, cco_run_place(r, from),
                        from.n);
    } else {
        const char *start = r->region != CCO_RUN_OWN ? r->reach->regions->list[r->region].memory
                                                     : NULL;
        const uint64_t at = (uintptr_t)cco_run_place(r, block) - (uintptr_t)start;
        memcpy(to, &at, sizeof at);
    }
}

static inline void cco_run_show(const cco_run *r, uint64_t piece)
{
    cco_slot_ring_publish(r->ring, piece, r->stage->word + (uint64_t)(r->region + 1));
}

/* Where the lane of `writer` for `reader` begins in a slot, in which the writer has none. */
static inline size_t cco_run_lane(const cco_run *r, int writer, int reader)
{
    const size_t lane = r->stage->window + r->stage->head;
    return (size_t)(reader - (reader > writer)) * lane + r->stage->head;
}

/* What the slots of a rank say in a call like this one if a block of them has `n` bytes. */
static inline uint64_t cco_run_expected(const cco_run *r, size_t n)
{
    return r->stage->base + (r->stage->says ? cco_stamp_bytes(n) : 0);
}

/* How long the lane is. */
static inline uint64_t cco_run_head(const char *lane)
{
    uint64_t n;
    memcpy(&n, lane - sizeof n, sizeof n);
    return n;
}

static inline void cco_run_set_head(const cco_run *r, char *lane, size_t n)
{
    const uint64_t head = n;
    if (r->stage->head > 0)
        memcpy(lane - sizeof head, &head, sizeof head);
}

/* A rank makes another call than this one, or gives other bytes; `lane`: NULL, or its lane, where
 * that says how long it is. */
void cco_run_differs(const cco_run *r, int rank, const char *slot, const char *lane, size_t n);

/* Whether a rank makes another call, by what came of it before. */
static inline bool cco_run_strange(const cco_run *r, int rank)
{
    return __builtin_expect(r->ring->strangers != 0, 0) && r->ring->strangers >> rank & 1;
}

/* Where data that `rank` shows lie: how far into its slot for a piece of the slot ring, or into the
 * block that its first piece told of, which has `n` bytes. */
typedef struct cco_shown_at {
    size_t offset, at, n;
} cco_shown_at;

/* Those data; an address of that rank if they are remote.  NULL if it makes another call. */
static inline const char *cco_run_data(const cco_run *r, int rank, uint64_t piece, cco_shown_at in)
{
    const uint64_t expected = cco_run_expected(r, in.n);
    if (r->found->ranks >> rank & 1)
        return r->found->data[rank] + in.at;
    if (cco_run_strange(r, rank))
        return NULL;
    const char *slot = cco_slot_ring_read(r->ring, rank, piece), *data = slot + in.offset;
    const uint64_t stamp = cco_stamp_alone(cco_slot_word(slot));
    const uint64_t word = cco_slot_word(slot) - stamp;
    if (stamp != expected || (r->stage->head > 0 && cco_run_head(data) != in.n)) {
        cco_run_differs(r, rank, slot, data, in.n);
        return NULL;
    }
    if (word == 0)
        return data;
    uint64_t place;
    memcpy(&place, data, sizeof place);
    const uint64_t bit = (uint64_t)1 << rank;
    if (word == CCO_RUN_OWN + 1) {
        r->found->data[rank] = (const char *)(uintptr_t)place;
        r->found->remote |= bit;
    } else {
        r->found->data[rank] = r->reach->regions->list[word - 1].memory + place;
    }
    r->found->ranks |= bit;
    return r->found->data[rank] + in.at;
}

/* Whether the data of a rank are in memory of its own, once that is known. */
static inline bool cco_run_remote(const cco_run *r, int rank)
{
    return r->found != NULL && (r->found->remote >> rank & 1);
}

/* Whether no data of the ranks from `first` to `last` but this one's need a slot, once known. */
static inline bool cco_run_all_found(const cco_run *r, int first, int last)
{
    for (int i = first; i <= last; i++)
        if (i != r->q->rank && !(r->found->ranks >> i & 1))
            return false;
    return true;
}

/* Pieces that a rank shows before the one that it needs itself: none, for what is fresh may
 * still be in its cache; as many as have room where ranks take turns on a core. */
static inline uint64_t cco_run_ahead(const cco_run *r)
{
    return cco_pause_crowds() ? r->ring->slots : 0;
}

/* to = from[first] op ... op from[last], in this order, so that every rank gets the same bits; `n`
 * bytes.  This rank's own operand may be where the result goes.  With a `fold` among the binding's
 * operations, it combines all operands at once. */
int cco_run_fold(const cco_run *r, const char **from, int first, int last, char *to, size_t n);

#endif
