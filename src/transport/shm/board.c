/* SPDX-License-Identifier: BSD-3-Clause */
/* board.c - see board.h. */
#include "transport/shm/board.h"

void cco_board_wait_for_room(cco_board *b)
{
    uint64_t least = b->now;
    for (int rank = 0; rank < b->size; rank++) {
        uint64_t left = b->now;
        for (int tries = 0; rank != b->rank; cco_pause(&tries)) {
            left = __atomic_load_n(cco_board_left(b, rank), __ATOMIC_ACQUIRE);
            if (left + CCO_BOARD_RING >= b->now)
                break;
        }
        least = left < least ? left : least;
    }
    b->passed = least;
}
