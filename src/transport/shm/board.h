/* SPDX-License-Identifier: BSD-3-Clause */
/* board.h - where the ranks of a node show each other small data: a ring of slots for each.
 *
 * Every operation on a communicator has a number, the same on all ranks.  A rank may write in its
 * slot for it, once; who needs that waits for the number, which stands in front of the data, in
 * their cache line if they are few.  Nobody writes in the slot of another.  A rank is ahead of the
 * slowest by at most the ring, so that calls with one direction do not wait for an answer. */
#ifndef CCO_BOARD_H
#define CCO_BOARD_H

#include <stddef.h>
#include <stdint.h>

#include "core/pause.h"

enum {
    CCO_BOARD_LINE = 64,
    CCO_BOARD_RING = 32,
    CCO_BOARD_HEAD = 16, /* bytes before the data: the number, and alignment for any type */
};

typedef struct cco_board {
    char *memory; /* cco_board_memory bytes, zero to begin with */
    size_t slot;  /* bytes of a slot, in lines, its number included */
    int rank, size;
    uint64_t now;    /* the operation under way; 0: none yet */
    uint64_t passed; /* operations that all have left behind, as far as is known */
} cco_board;

/* Bytes of data for which a slot has room. */
static inline size_t cco_board_room(size_t slot)
{
    return slot - CCO_BOARD_HEAD;
}

/* Bytes that a rank has: a line that says what it left behind, and its ring. */
static inline size_t cco_board_share(size_t slot)
{
    return CCO_BOARD_LINE + CCO_BOARD_RING * slot;
}

static inline uint64_t *cco_board_left(const cco_board *b, int rank)
{
    return (uint64_t *)(b->memory + (size_t)rank * cco_board_share(b->slot));
}

static inline uint64_t *cco_board_slot(const cco_board *b, int rank)
{
    const size_t place = CCO_BOARD_LINE + b->now % CCO_BOARD_RING * b->slot;
    return (uint64_t *)(b->memory + (size_t)rank * cco_board_share(b->slot) + place);
}

/* Waits until nobody reads what this rank wrote a ring ago. */
void cco_board_wait_for_room(cco_board *b);

/* Begins the next operation, on every rank. */
static inline void cco_board_begin(cco_board *b)
{
    b->now++;
}

/* Room for this rank's data. */
static inline char *cco_board_mine(cco_board *b)
{
    if (b->passed + CCO_BOARD_RING < b->now)
        cco_board_wait_for_room(b);
    return (char *)cco_board_slot(b, b->rank) + CCO_BOARD_HEAD;
}

/* Shows it. */
static inline void cco_board_show(cco_board *b)
{
    __atomic_store_n(cco_board_slot(b, b->rank), b->now, __ATOMIC_RELEASE);
}

/* The data of a rank, once it shows them. */
static inline const char *cco_board_of(const cco_board *b, int rank)
{
    const uint64_t *slot = cco_board_slot(b, rank);
    for (int tries = 0; __atomic_load_n(slot, __ATOMIC_ACQUIRE) != b->now;)
        cco_pause(&tries);
    return (const char *)slot + CCO_BOARD_HEAD;
}

/* This rank needs nothing more of the operation. */
static inline void cco_board_end(cco_board *b)
{
    __atomic_store_n(cco_board_left(b, b->rank), b->now, __ATOMIC_RELEASE);
}

#endif
