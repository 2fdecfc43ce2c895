/* SPDX-License-Identifier: BSD-3-Clause */
/* board.c - see board.h. */
#include "transport/shm/board.h"

static uint64_t left_by(const cco_board *b, int rank)
{
    return __atomic_load_n(cco_board_left(b, rank), __ATOMIC_ACQUIRE);
}

/* The last number that is needed by nobody of `reader`. */
static uint64_t left_by_all(const cco_board *b, int reader)
{
    uint64_t least = UINT64_MAX;
    if (reader != CCO_BOARD_ALL)
        return left_by(b, reader);
    for (int rank = 0; rank < b->size; rank++) {
        const uint64_t left = rank != b->rank ? left_by(b, rank) : least;
        least = left < least ? left : least;
    }
    return least;
}

bool cco_board_look_for_room(cco_board *b, uint64_t piece)
{
    const cco_board_use use = b->uses[cco_board_place(b, piece)];
    b->passed = left_by_all(b, use.reader);
    b->passed_by = use.reader;
    return use.number <= b->passed;
}

void cco_board_wait_for_end(cco_board *b, int reader)
{
    const uint64_t end = b->call + CCO_BOARD_LAST;
    for (int tries = CCO_PAUSE_MEMORY; left_by_all(b, reader) < end;)
        cco_pause(&tries);
}
