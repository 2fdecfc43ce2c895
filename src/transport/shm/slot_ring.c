/* SPDX-License-Identifier: BSD-3-Clause */
/* slot_ring.c - see slot_ring.h. */
#include "transport/shm/slot_ring.h"

#include "hang/whereabouts.h"
#include "transport/shm/elsewhere.h"
#include "transport/shm/lost.h"
#include "transport/shm/pull.h"

enum {
    PAIR = 512,                         /* bytes: swapping less takes longer than it saves */
    OLD_BITS = 20 + CCO_SLOT_PIECE_BITS /* ranks are never so many calls apart, by far */
};

cco_slot_ring cco_slot_ring_open(char *memory, size_t share, size_t slot, unsigned slots, int rank,
                                 int size, uint64_t call)
{
    cco_slot_ring b = {.memory = memory,
                       .share = share,
                       .slot = slot,
                       .slots = slots,
                       .mask = slots - 1,
                       .pair = size == 2 && slot > PAIR,
                       .first = (uint32_t)(call >> CCO_SLOT_PIECE_BITS),
                       .rank = rank,
                       .size = size,
                       .call = call,
                       .passed = call,
                       .passed_by = CCO_SLOT_READERS_ALL,
                       .writes = {.bytes = slots * slot}};
    for (int i = 0; i < CCO_SLOT_RING_MOST; i++)
        b.uses[0][i].number = b.uses[1][i].number = call;
    return b;
}

cco_slot_ring cco_slot_ring_open_abreast(char *memory, size_t slot, unsigned slots, int rank,
                                         int size, uint64_t call)
{
    const size_t share = CCO_SLOT_LINE + slot;
    cco_slot_ring b = cco_slot_ring_open(memory, share, (size_t)size * share, slots, rank, size,
                                         call);
    b.pair = false;
    b.writes.bytes = slots * slot;
    return b;
}

void cco_slot_ring_close(const cco_slot_ring *b, uint64_t call)
{
    __atomic_store_n(cco_slot_ring_released(b, b->rank), call + CCO_SLOT_PIECE_LAST,
                     __ATOMIC_RELEASE);
}

static bool is_old(const cco_slot_ring *b, uint64_t number)
{
    return b->call - number > (uint64_t)1 << OLD_BITS && number - b->call > (uint64_t)1 << OLD_BITS;
}

/* The other of two ranks may be a few calls ahead, and write into this rank's slots meanwhile. */
static void clear_if_old(const cco_slot_ring *b, unsigned index)
{
    uint64_t *slot = (uint64_t *)(void *)cco_slot_ring_place(b, b->rank, index);
    uint64_t number = __atomic_load_n(slot, __ATOMIC_RELAXED);
    if (is_old(b, number))
        __atomic_compare_exchange_n(slot, &number, 0, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/* What a call of so long ago has left is free for all, and where a number alone says what it is,
 * that number comes again. */
void cco_slot_ring_renew(cco_slot_ring *b)
{
    const uint64_t newer = b->call - ((uint64_t)1 << OLD_BITS);
    for (unsigned i = 0; i < b->slots; i++) {
        clear_if_old(b, i);
        for (int swapped = 0; swapped < 2; swapped++)
            if (is_old(b, b->uses[swapped][i].number))
                b->uses[swapped][i].number = newer;
    }
    if (is_old(b, b->passed)) {
        b->passed = newer;
        b->passed_by = CCO_SLOT_READERS_ALL;
    }
    cco_elsewhere_forget(b);
    if (b->call == 0) {
        b->call += (uint64_t)1 << CCO_SLOT_PIECE_BITS;
        b->first++;
    }
}

void cco_slot_ring_choose(cco_slot_ring *b, cco_slot_rounds rounds)
{
    if ((uint32_t)(b->call >> CCO_SLOT_PIECE_BITS) == 0)
        cco_slot_ring_renew(b);
    b->swap = rounds.slots < b->slots ? rounds.slots : b->slots;
    b->mask = (b->swap > 0 ? b->swap : b->slots) - 1;
    b->both = b->swap != 0 && !rounds.anew;
    if (b->swap == 0)
        b->first = (uint32_t)(b->call >> CCO_SLOT_PIECE_BITS);
    else
        b->first = (uint32_t)(rounds.anew ? (b->turn++ & 1) * b->swap : b->round++);
}

void cco_slot_ring_pause(const cco_slot_ring *b, int *tries)
{
    if (b->pull != NULL)
        cco_pull_serve(b->pull);
    cco_pause(tries);
}

static uint64_t left_by(const cco_slot_ring *b, int rank)
{
    return __atomic_load_n(cco_slot_ring_released(b, rank), __ATOMIC_ACQUIRE);
}

/* The last number that is needed by nobody of `reader`; of two ranks, nor by this one, which may
 * write next where it has read. */
static uint64_t left_by_all(const cco_slot_ring *b, int reader)
{
    uint64_t least = b->call + CCO_SLOT_PIECE_LAST;
    if (reader != CCO_SLOT_READERS_ALL)
        return left_by(b, reader);
    for (int rank = 0; rank < b->size; rank++) {
        const uint64_t left = rank != b->rank || b->pair ? left_by(b, rank) : least;
        least = cco_slot_number_before(left, least) ? left : least;
    }
    return least;
}

bool cco_slot_ring_poll_room(cco_slot_ring *b, uint64_t piece)
{
    const cco_slot_use use = *cco_slot_ring_use(b, piece);
    b->passed = left_by_all(b, use.reader);
    b->passed_by = use.reader;
    return !cco_slot_number_before(b->passed, use.number);
}

/* Two ranks may have swapped theirs: who waits does so for the other. */
static int owner_of(const cco_slot_ring *b, const uint64_t *slot)
{
    const size_t place = (size_t)((const char *)slot - b->memory) / b->share;
    return b->size == 2 ? 1 - b->rank : (int)(place % (size_t)b->size);
}

/* For a roll-call: whose slot it is. */
__attribute__((noinline)) static void tell_where(const cco_slot_ring *b, const uint64_t *slot)
{
    cco_where_wait(&(cco_where_step){-1, -1, owner_of(b, slot), b->size});
}

/* The other rank mostly comes within a microsecond where each has a core.  A wait so short has
 * nothing to look after: between what comes and the return there is no more than a few
 * instructions, instead of the hundred of a whole pause. */
static inline bool comes_soon(const cco_slot_ring *b, const uint64_t *slot, uint64_t number)
{
    enum { SOON = 40 }; /* looks, each of 10 to 50 ns */
    if (b->pull != NULL || cco_pause_crowds())
        return false;
    for (int i = 0; i < SOON; i++) {
        cco_pause_look();
        if (__atomic_load_n(slot, __ATOMIC_ACQUIRE) == number)
            return true;
    }
    return false;
}

void cco_slot_ring_wait_for(const cco_slot_ring *b, const uint64_t *slot, uint64_t number)
{
    if (comes_soon(b, slot, number))
        return;
    if (cco_where_on())
        tell_where(b, slot);
    const int writer = owner_of(b, slot);
    bool away, gone;
    for (int tries = CCO_PAUSE_MEMORY; !b->over;) { /* the caller has looked */
        cco_slot_ring_pause(b, &tries);
        away = cco_elsewhere(b, writer, tries);
        gone = !away && cco_lost_gone(b, writer, tries);
        if (__atomic_load_n(slot, __ATOMIC_ACQUIRE) == number)
            return;
        if (away)
            cco_elsewhere_give_up(b, writer);
        if (gone)
            cco_lost_give_up(b, writer);
    }
}

/* The first rank that has not left what it has to leave up to `number`; -1 if there is none. */
static int slot_ring_behind(const cco_slot_ring *b, int reader, uint64_t number)
{
    if (reader != CCO_SLOT_READERS_ALL)
        return cco_slot_number_before(left_by(b, reader), number) ? reader : -1;
    for (int rank = 0; rank < b->size; rank++)
        if (rank != b->rank && cco_slot_number_before(left_by(b, rank), number))
            return rank;
    return -1;
}

/* Waits for others to leave that, one after the other. */
static void wait_for_leave(const cco_slot_ring *b, int reader, uint64_t number)
{
    int tries = CCO_PAUSE_MEMORY;
    for (int rank; !b->over && (rank = slot_ring_behind(b, reader, number)) >= 0;) {
        cco_slot_ring_pause(b, &tries);
        const bool away = cco_elsewhere(b, rank, tries);
        const bool gone = !away && cco_lost_gone(b, rank, tries);
        if ((away || gone) && cco_slot_number_before(left_by(b, rank), number))
            (away ? cco_elsewhere_give_up : cco_lost_give_up)(b, rank);
    }
}

void cco_slot_ring_wait_for_room(cco_slot_ring *b, uint64_t piece)
{
    const cco_slot_use use = *cco_slot_ring_use(b, piece);
    wait_for_leave(b, use.reader, use.number);
    cco_slot_ring_poll_room(b, piece);
}

void cco_slot_ring_wait_for_end(cco_slot_ring *b, int reader)
{
    wait_for_leave(b, reader, b->call + CCO_SLOT_PIECE_LAST);
}
