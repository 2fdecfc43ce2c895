/* SPDX-License-Identifier: BSD-3-Clause */
/* lost.c - see lost.h. */
#include "transport/shm/lost.h"

int cco_lost_seat(const cco_slot_ring *b, int rank)
{
    return b->seats != NULL ? b->seats[rank] : rank;
}

int cco_lost_left_with(const cco_slot_ring *b, int rank)
{
    return (int)__atomic_load_n(&b->watch->seats[cco_lost_seat(b, rank)].left, __ATOMIC_ACQUIRE);
}

/* The flag of a rank that has left is memory; processes and the MPI are asked more seldom. */
bool cco_lost_gone(const cco_slot_ring *b, int rank, int tries)
{
    if (b->watch == NULL || !cco_watch_is_time(tries))
        return false;
    if (cco_lost_left_with(b, rank) != MPI_SUCCESS)
        return true;
    return cco_watch_due(b->watch) && (cco_watch_gone(b->watch, cco_lost_seat(b, rank)) ||
                                       cco_watch_error(b->watch) != MPI_SUCCESS);
}

void cco_lost_give_up(const cco_slot_ring *b, int rank)
{
    const int error = cco_watch_error(b->watch), left = cco_lost_left_with(b, rank);
    cco_watch_fail(b->watch, error != MPI_SUCCESS ? error : left,
                   left != MPI_SUCCESS ? -1 : cco_lost_seat(b, rank));
}
