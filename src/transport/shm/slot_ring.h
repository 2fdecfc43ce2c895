/* SPDX-License-Identifier: BSD-3-Clause */
/* slot_ring.h - where the ranks of a node show each other data: a ring of slots for each.
 *
 * A call goes in pieces, numbered the same on all ranks: its own number above that of the piece.  A
 * rank may write in its slot for a piece, once; who needs that waits for the number, which stands
 * in front of the data, in their cache line if they are few.  A rank is ahead of its readers by at
 * most the ring, so that calls with one direction do not wait for an answer.
 *
 * Two ranks may swap their slots from round to round: a rank then writes where it has read before.
 * A processor that reads a line which another core has written often takes it over, and so has it
 * when it writes; a line of its own that the other core has read must be taken back first, which
 * takes several times as long (docs/lab/design-notes.md). */
#ifndef CCO_SLOT_RING_H
#define CCO_SLOT_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/pause.h"
#include "call/unlike.h"
#include "base/watch.h"
#include "base/writes.h"

enum {
    CCO_SLOT_LINE = 64,
    CCO_SLOT_RING_MOST = 32,  /* slots of a ring at most */
    CCO_SLOT_HEAD = 16,       /* bytes before the data: the number, and a word about them */
    CCO_SLOT_PIECE_BITS = 24, /* of a piece's number within a call */
    CCO_SLOT_PIECE_LAST = (1 << CCO_SLOT_PIECE_BITS) - 1,
    CCO_SLOT_READERS_ALL = -1, /* all other ranks are readers */
};

/* What a rank knows of a slot where it may write. */
typedef struct cco_slot_use {
    uint64_t number; /* of the last piece that it was for, or an earlier one */
    int reader;      /* who needs it until then: a rank or CCO_SLOT_READERS_ALL */
} cco_slot_use;

/* Rings of one communicator, through whose calls its ranks go in one order. */
typedef struct cco_slot_family {
    const struct cco_slot_ring *rings;
    int count;
    cco_unlike unlike; /* the first rank that made another call */
} cco_slot_family;

typedef struct cco_slot_ring {
    char *memory;   /* of rank 0, zero to begin with */
    size_t share;   /* bytes of memory from one rank to the next */
    size_t slot;    /* from one slot of a rank to its next, in lines: a slot, its number included */
    unsigned slots; /* slots: a power of two */
    int rank, size;
    bool pair;             /* two ranks that may swap their slots */
    uint64_t round;        /* where the next call of rounds goes on, the same on both ranks */
    uint64_t turn;         /* calls that began anew, the same on both */
    uint32_t first;        /* of the call under way: its first piece, in the order of slots, */
    unsigned mask, swap;   /* the slots it goes through less 1, and as many if they are swapped */
    bool both;             /* both ranks write these */
    bool over;             /* no wait comes to an end here any more: the memory is this rank's alone
                              (cco_segment_detach), and all calls return `error` */
    uint64_t call;         /* the call under way, its number above CCO_SLOT_PIECE_BITS; it wraps */
    uint64_t passed;       /* up to here `passed_by` is known to need nothing */
    int passed_by;         /* a rank, or CCO_SLOT_READERS_ALL */
    int error;             /* not MPI_SUCCESS: what the call returns, because a rank makes another
                              one, or because the ring is `over` */
    struct cco_pull *pull; /* whose requests this rank answers while it waits; NULL: none */
    uint64_t strangers;    /* bit per rank: those that do so, whose data are not taken */
    uint64_t stamp;        /* of the call under way, the same on all ranks */
    cco_slot_family *family; /* NULL: nobody looks for such ranks in waits */
    cco_watch *watch;        /* of the others; NULL: nobody looks after them */
    const int *seats;        /* of the ranks of the ring; NULL: each has the seat of its number */
    cco_slot_use uses[2][CCO_SLOT_RING_MOST]; /* of its own slots, and of the other's of a pair */
    cco_writes writes;                        /* into its slots */
} cco_slot_ring;

/* A ring on memory that is zero, or that rings before it have closed: no number there is beyond
 * `call`, the same on all ranks.  `share`: cco_slot_ring_share or more.  Two ranks may swap their
 * slots if these have room for some lines. */
cco_slot_ring cco_slot_ring_open(char *memory, size_t share, size_t slot, unsigned slots, int rank,
                                 int size, uint64_t call);

/* A ring with slots abreast: those of all ranks with one index are next to each other, each behind
 * a line, so that few calls touch few pages, however many ranks there are.  Two ranks do not swap
 * them.  The memory has cco_slot_ring_share_abreast for each rank. */
cco_slot_ring cco_slot_ring_open_abreast(char *memory, size_t slot, unsigned slots, int rank,
                                         int size, uint64_t call);

/* This rank ends its use of the ring.  Another ring on its memory may be opened with `call`, which
 * is none before that of this ring. */
void cco_slot_ring_close(const cco_slot_ring *b, uint64_t call);

/* Bytes that a rank has: a line that says what it needs no more, and its ring. */
static inline size_t cco_slot_ring_share(size_t slot, unsigned slots)
{
    return CCO_SLOT_LINE + slots * slot;
}

static inline size_t cco_slot_ring_share_abreast(size_t slot, unsigned slots)
{
    return slots * (CCO_SLOT_LINE + slot);
}

static inline uint64_t *cco_slot_ring_released(const cco_slot_ring *b, int rank)
{
    return (uint64_t *)(b->memory + (size_t)rank * b->share);
}

static inline unsigned cco_slot_ring_index(const cco_slot_ring *b, uint64_t piece)
{
    return (unsigned)(b->first + piece) & b->mask;
}

/* Whether a piece goes through the slot of the other of two ranks. */
static inline bool cco_slot_ring_swapped(const cco_slot_ring *b, uint64_t piece)
{
    return b->pair && ((b->first + piece) & b->swap) != 0;
}

static inline char *cco_slot_ring_place(const cco_slot_ring *b, int rank, unsigned index)
{
    return (char *)cco_slot_ring_released(b, rank) + CCO_SLOT_LINE + index * b->slot;
}

static inline uint64_t *cco_slot_ring_slot(const cco_slot_ring *b, int rank, uint64_t piece)
{
    const int place = rank ^ (int)cco_slot_ring_swapped(b, piece);
    return (uint64_t *)cco_slot_ring_place(b, place, cco_slot_ring_index(b, piece));
}

/* The use of the slot where this rank writes a piece. */
static inline cco_slot_use *cco_slot_ring_use(cco_slot_ring *b, uint64_t piece)
{
    return &b->uses[cco_slot_ring_swapped(b, piece)][cco_slot_ring_index(b, piece)];
}

/* Whether `number` comes before `other`.  Numbers wrap after 2^40 calls: those that are compared
 * are less than half of that apart (cco_slot_ring_renew). */
static inline bool cco_slot_number_before(uint64_t number, uint64_t other)
{
    return (int64_t)(number - other) < 0;
}

/* Whether nobody needs what a slot holds, by what this rank knows. */
static inline bool cco_slot_ring_knows_free(const cco_slot_ring *b, const cco_slot_use *use)
{
    return !cco_slot_number_before(b->passed, use->number) &&
           (b->passed_by == CCO_SLOT_READERS_ALL || b->passed_by == use->reader);
}

/* What a rank does between two looks at a slot ring. */
void cco_slot_ring_pause(const cco_slot_ring *b, int *tries);

/* Waits until a slot shows a number, or there is room: where calls that need not wait do not pass,
 * so that they need no memory for it. */
void cco_slot_ring_wait_for(const cco_slot_ring *b, const uint64_t *slot, uint64_t number);
void cco_slot_ring_wait_for_room(cco_slot_ring *b, uint64_t piece);

/* True when nobody needs what the slot holds where this rank writes a piece; looks once. */
bool cco_slot_ring_poll_room(cco_slot_ring *b, uint64_t piece);

static inline bool cco_slot_ring_has_room(cco_slot_ring *b, uint64_t piece)
{
    return cco_slot_ring_knows_free(b, cco_slot_ring_use(b, piece)) ||
           cco_slot_ring_poll_room(b, piece);
}

/* How two ranks swap their slots; the same on both. */
typedef struct cco_slot_rounds {
    unsigned slots; /* of a round, a power of two; 0: they do not */
    bool anew;      /* each call begins with the first slot, swapped since the last one that did;
                       otherwise it goes on behind the one before */
} cco_slot_rounds;

/* Which slots the call that begins goes through. */
void cco_slot_ring_choose(cco_slot_ring *b, cco_slot_rounds rounds);

/* Every 2^32 calls: gives old numbers that are kept newer ones, clears those of old slots, and
 * leaves out the call 0, whose number memory has to begin with. */
void cco_slot_ring_renew(cco_slot_ring *b);

/* Begins the next call, on every rank; `own`: of a ring that is no pair's. */
static inline void cco_slot_ring_begin_own(cco_slot_ring *b)
{
    b->call += (uint64_t)1 << CCO_SLOT_PIECE_BITS;
    if (__builtin_expect(++b->first == 0, 0))
        cco_slot_ring_renew(b);
}

static inline void cco_slot_ring_begin(cco_slot_ring *b, cco_slot_rounds rounds)
{
    cco_slot_ring_begin_own(b);
    if (b->pair)
        cco_slot_ring_choose(b, rounds);
}

/* Where there are two ranks, the other may have written a piece where this one writes later. */
static inline void cco_slot_ring_note_use(cco_slot_ring *b, uint64_t piece)
{
    cco_slot_use *use = &b->uses[!cco_slot_ring_swapped(b, piece)][cco_slot_ring_index(b, piece)];
    if (cco_slot_number_before(use->number, b->call + piece))
        *use = (cco_slot_use){b->call + piece, CCO_SLOT_READERS_ALL};
}

/* Room for this rank's data in a piece, which `reader` will read. */
static inline char *cco_slot_ring_reserve(cco_slot_ring *b, uint64_t piece, int reader)
{
    const bool swapped = cco_slot_ring_swapped(b, piece);
    const unsigned index = cco_slot_ring_index(b, piece);
    cco_slot_use *use = &b->uses[swapped][index];
    if (!cco_slot_ring_knows_free(b, use) && !cco_slot_ring_poll_room(b, piece))
        cco_slot_ring_wait_for_room(b, piece);
    *use = (cco_slot_use){b->call + piece, reader};
    if (b->both)
        cco_slot_ring_note_use(b, piece); /* the other's, which this rank may not have read yet */
    return cco_slot_ring_place(b, b->rank ^ (int)swapped, index) + CCO_SLOT_HEAD;
}

/* Shows it, by its number, with a word about it; `data`: the room. */
static inline void cco_slot_ring_publish_number(char *data, uint64_t number, uint64_t word)
{
    uint64_t *slot = (uint64_t *)(data - CCO_SLOT_HEAD);
    slot[1] = word;
    __atomic_store_n(slot, number, __ATOMIC_RELEASE);
}

static inline void cco_slot_ring_publish(cco_slot_ring *b, uint64_t piece, uint64_t word)
{
    char *slot = (char *)cco_slot_ring_slot(b, b->rank, piece);
    cco_slot_ring_publish_number(slot + CCO_SLOT_HEAD, b->call + piece, word);
}

/* The data of a slot, once it shows a number. */
static inline const char *cco_slot_ring_read_at(const cco_slot_ring *b, const uint64_t *slot,
                                                uint64_t number)
{
    if (__atomic_load_n(slot, __ATOMIC_ACQUIRE) != number)
        cco_slot_ring_wait_for(b, slot, number);
    return (const char *)slot + CCO_SLOT_HEAD;
}

/* The data of a rank, once it shows them. */
static inline const char *cco_slot_ring_read(const cco_slot_ring *b, int rank, uint64_t piece)
{
    return cco_slot_ring_read_at(b, cco_slot_ring_slot(b, rank, piece), b->call + piece);
}

static inline uint64_t cco_slot_word(const char *data)
{
    return ((const uint64_t *)(data - CCO_SLOT_HEAD))[1];
}

/* This rank needs nothing more of a piece, and of those before. */
static inline void cco_slot_ring_release(cco_slot_ring *b, uint64_t piece)
{
    if (b->pair)
        cco_slot_ring_note_use(b, piece);
    __atomic_store_n(cco_slot_ring_released(b, b->rank), b->call + piece, __ATOMIC_RELEASE);
}

/* Nor of any piece of the call. */
static inline void cco_slot_ring_end_own(cco_slot_ring *b)
{
    __atomic_store_n(cco_slot_ring_released(b, b->rank), b->call + CCO_SLOT_PIECE_LAST,
                     __ATOMIC_RELEASE);
}

static inline void cco_slot_ring_end(cco_slot_ring *b)
{
    if (b->pair)
        cco_slot_ring_note_use(b, 0);
    cco_slot_ring_end_own(b);
}

/* No wait comes to an end here any more. */
static inline void cco_slot_ring_give_up(cco_slot_ring *b, int error)
{
    b->error = error;
    b->over = true;
}

/* Waits until `reader` has ended the call too. */
void cco_slot_ring_wait_for_end(cco_slot_ring *b, int reader);

#endif
