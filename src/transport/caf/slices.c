/* SPDX-License-Identifier: BSD-3-Clause */
/* slices.c - see slices.h. */
#include "transport/caf/slices.h"

#include <sched.h>
#include <stdlib.h>

#include "mpi/service.h"
#include "transport/caf/signals.h"

typedef struct leaving {
    cco_slice slice;
    const uint32_t *left;
    int ranks;
    struct leaving *next;
} leaving;

enum {
    TRIES = 1000,
    BITS = 64,
    WORDS = CCO_BLOCKS / BITS,
    PART = 8 /* a communicator takes no more than one in so many of the blocks that are free */
};

typedef struct map {
    uint64_t bits[WORDS]; /* of blocks */
} map;

static map taken;
static leaving *leavings; /* left by this rank, perhaps not by all */
static int claimed;       /* by a thread, all of the above */

static bool slices_claim(void)
{
    return !__atomic_exchange_n(&claimed, 1, __ATOMIC_ACQUIRE);
}

static void slices_unclaim(void)
{
    __atomic_store_n(&claimed, 0, __ATOMIC_RELEASE);
}

static bool slices_has(const map *m, int block)
{
    return m->bits[block / BITS] >> block % BITS & 1;
}

static void slices_mark(map *m, cco_slice slice)
{
    for (int i = slice.first; i < slice.first + slice.blocks; i++)
        m->bits[i / BITS] |= UINT64_C(1) << i % BITS;
}

static void slices_unmark(map *m, cco_slice slice)
{
    for (int i = slice.first; i < slice.first + slice.blocks; i++)
        m->bits[i / BITS] &= ~(UINT64_C(1) << i % BITS);
}

static bool all_left(const leaving *l)
{
    for (int i = 0; i < l->ranks; i++)
        if (__atomic_load_n(&l->left[i], __ATOMIC_ACQUIRE) == 0)
            return false;
    return true;
}

/* Frees the blocks of what all have left. */
static void slices_reap(void)
{
    for (leaving **at = &leavings; *at != NULL;) {
        leaving *l = *at;
        if (!all_left(l)) {
            at = &l->next;
            continue;
        }
        slices_unmark(&taken, l->slice);
        *at = l->next;
        free(l);
    }
}

/* The first run of `blocks` in `vacant`; none if there is none. */
static cco_slice slices_find(const map *vacant, int blocks)
{
    int run = 0;
    for (int i = 0; i < CCO_BLOCKS; i++) {
        run = slices_has(vacant, i) ? run + 1 : 0;
        if (run == blocks)
            return (cco_slice){i + 1 - blocks, blocks};
    }
    return (cco_slice){0, 0};
}

/* As many blocks in a row as can be had; the same wherever `vacant` is. */
static cco_slice slices_choose(const map *vacant, int least, int most)
{
    int count = 0;
    for (int i = 0; i < CCO_BLOCKS; i++)
        count += slices_has(vacant, i);
    if (most > count / PART)
        most = count / PART;
    cco_slice slice = {0, 0};
    for (int blocks = most > least ? most : least; blocks >= least && slice.blocks == 0; blocks--)
        slice = slices_find(vacant, blocks);
    return slice;
}

enum { READY = 1, ALONE = 2 };

/* What is free on all ranks, and whether all are ready and alone. */
typedef struct offer {
    map vacant;
    uint64_t rank_is;
} offer;

static bool slices_combine(const offer *mine, offer *all, MPI_Comm comm)
{
    return cco_service_allreduce(mine, all, WORDS + 1, MPI_UINT64_T, MPI_BAND, comm) == MPI_SUCCESS;
}

static offer offer_of(bool ready, bool alone)
{
    offer mine = {.rank_is = (ready ? READY : 0) | (alone ? ALONE : 0)};
    if (ready && alone) {
        cco_signals_receive();
        slices_reap();
        for (int i = 0; i < WORDS; i++)
            mine.vacant.bits[i] = ~taken.bits[i];
    }
    return mine;
}

/* Threads take slices for several communicators at once, in another order on other ranks: to wait
 * for each other would be to wait for ever.  A thread that finds another at it says so, and all
 * ranks of its communicator try again. */
cco_slice cco_slice_take(int least, int most, bool ready, MPI_Comm comm)
{
    cco_slice slice = {0, 0};
    for (int i = 0; i < TRIES; i++) {
        const bool alone = slices_claim();
        const offer mine = offer_of(ready, alone);
        offer all = {.rank_is = 0};
        const bool agreed = slices_combine(&mine, &all, comm);
        const bool go = agreed && all.rank_is == (READY | ALONE);
        if (go) {
            slice = slices_choose(&all.vacant, least, most);
            slices_mark(&taken, slice);
        }
        if (alone)
            slices_unclaim();
        if (go || !agreed || !(all.rank_is & READY))
            break;
        sched_yield();
    }
    return slice;
}

void cco_slice_leave(cco_slice slice, const uint32_t *left, int ranks)
{
    leaving *l = malloc(sizeof *l);
    if (l == NULL)
        return; /* the blocks are lost */
    *l = (leaving){slice, left, ranks, NULL};
    while (!slices_claim())
        sched_yield();
    l->next = leavings;
    leavings = l;
    slices_unclaim();
}
