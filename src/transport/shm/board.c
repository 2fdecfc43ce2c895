/* SPDX-License-Identifier: BSD-3-Clause */
/* board.c - see board.h. */
#include "transport/shm/board.h"

static uint64_t left_by(const cco_board *b, int rank)
{
    return __atomic_load_n(cco_board_left(b, rank), __ATOMIC_ACQUIRE);
}

bool cco_board_look_for_room(cco_board *b, uint64_t piece)
{
    const cco_board_use use = b->uses[cco_board_place(b, piece)];
    uint64_t least = UINT64_MAX;
    if (use.reader != CCO_BOARD_ALL) {
        least = left_by(b, use.reader);
    } else {
        for (int rank = 0; rank < b->size; rank++) {
            const uint64_t left = rank != b->rank ? left_by(b, rank) : least;
            least = left < least ? left : least;
        }
    }
    b->passed = least;
    b->passed_by = use.reader;
    return use.number <= least;
}
