/* SPDX-License-Identifier: BSD-3-Clause */
/* one_sided.c - puts into a window of the MPI, with each kind of synchronization, as few of them as
 * it allows: one for both neighbours, and none for the end of the step before. */
#include <sched.h>
#include <stddef.h>
#include <string.h>

#include "exchange.h"

enum { LOOKS = 64 };

void exchange_pause(int *tries)
{
    if (++*tries % LOOKS == 0)
        sched_yield();
}

static void window_open(exchange *x)
{
    MPI_Win_allocate(sizeof *x->mine, 1, MPI_INFO_NULL, x->comm, &x->mine, &x->window);
    memset(x->mine, 0, sizeof *x->mine);
    MPI_Barrier(x->comm);
}

static void window_close(exchange *x)
{
    MPI_Win_free(&x->window);
}

static MPI_Aint place(int side, int step)
{
    const MPI_Aint row = sizeof(int[COLUMNS]);
    return (MPI_Aint)offsetof(halo, rows) + (step % 2 * SIDES + side) * row;
}

static void put(exchange *x, const int *row, int side, int step)
{
    MPI_Put(row, COLUMNS, MPI_INT, x->peers[side], place(1 - side, step), COLUMNS, MPI_INT,
            x->window);
}

/* A fence ends what was put in this step, and begins the next one. */
static void fence_open(exchange *x)
{
    window_open(x);
    MPI_Win_fence(MPI_MODE_NOPRECEDE, x->window);
}

static void fence_begin(exchange *x, const int *rows[SIDES], int step)
{
    for (int side = 0; side < SIDES; side++)
        put(x, rows[side], side, step);
}

static void fence_end(exchange *x, int step)
{
    (void)step;
    MPI_Win_fence(0, x->window);
}

static void fence_close(exchange *x)
{
    MPI_Win_fence(MPI_MODE_NOSUCCEED, x->window);
    window_close(x);
}

static void post_open(exchange *x)
{
    MPI_Group all;
    window_open(x);
    MPI_Comm_group(x->comm, &all);
    MPI_Group_incl(all, x->peers[ABOVE] == x->peers[BELOW] ? 1 : SIDES, x->peers, &x->group);
    MPI_Group_free(&all);
}

static void post_begin(exchange *x, const int *rows[SIDES], int step)
{
    MPI_Win_post(x->group, 0, x->window);
    MPI_Win_start(x->group, 0, x->window);
    for (int side = 0; side < SIDES; side++)
        put(x, rows[side], side, step);
}

static void post_end(exchange *x, int step)
{
    (void)step;
    MPI_Win_complete(x->window);
    MPI_Win_wait(x->window);
}

static void post_close(exchange *x)
{
    MPI_Group_free(&x->group);
    window_close(x);
}

/* Says that the row of a step is there. */
static void tell(exchange *x, int side, const uint64_t *step)
{
    MPI_Accumulate(step, 1, MPI_UINT64_T, x->peers[side],
                   (MPI_Aint)offsetof(halo, come) + (1 - side) * (MPI_Aint)sizeof(uint64_t), 1,
                   MPI_UINT64_T, MPI_REPLACE, x->window);
}

static uint64_t come(const exchange *x, int side)
{
    return *(volatile const uint64_t *)&x->mine->come[side];
}

/* A lock for the row and one for its number: nothing else orders the two. */
static void lock_begin(exchange *x, const int *rows[SIDES], int step)
{
    const uint64_t number = (uint64_t)step;
    for (int side = 0; side < SIDES; side++) {
        MPI_Win_lock(MPI_LOCK_SHARED, x->peers[side], 0, x->window);
        put(x, rows[side], side, step);
        MPI_Win_unlock(x->peers[side], x->window);
        MPI_Win_lock(MPI_LOCK_SHARED, x->peers[side], 0, x->window);
        tell(x, side, &number);
        MPI_Win_unlock(x->peers[side], x->window);
    }
}

static void lock_end(exchange *x, int step)
{
    int me, tries = 0;
    MPI_Comm_rank(x->comm, &me);
    for (uint64_t least = 0; least < (uint64_t)step; exchange_pause(&tries)) {
        MPI_Win_lock(MPI_LOCK_SHARED, me, 0, x->window);
        least = come(x, ABOVE) < come(x, BELOW) ? come(x, ABOVE) : come(x, BELOW);
        MPI_Win_sync(x->window); /* the rows are read after their numbers */
        MPI_Win_unlock(me, x->window);
    }
}

/* One lock for all steps; a flush for both rows, and one for both numbers. */
static void rput_open(exchange *x)
{
    window_open(x);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, x->window);
}

static void rput_begin(exchange *x, const int *rows[SIDES], int step)
{
    for (int side = 0; side < SIDES; side++)
        MPI_Rput(rows[side], COLUMNS, MPI_INT, x->peers[side], place(1 - side, step), COLUMNS,
                 MPI_INT, x->window, &x->requests[side]);
}

static void rput_end(exchange *x, int step)
{
    const uint64_t number = (uint64_t)step;
    MPI_Status statuses[SIDES];
    int tries = 0, flag;
    MPI_Waitall(SIDES, x->requests, statuses);
    MPI_Win_flush_all(x->window);
    for (int side = 0; side < SIDES; side++)
        tell(x, side, &number);
    MPI_Win_flush_all(x->window);
    for (int side = 0; side < SIDES; side++)
        for (MPI_Win_sync(x->window); come(x, side) < number; MPI_Win_sync(x->window)) {
            MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, x->comm, &flag, MPI_STATUS_IGNORE);
            exchange_pause(&tries);
        }
}

static void rput_close(exchange *x)
{
    MPI_Win_unlock_all(x->window);
    window_close(x);
}

const way one_sided_ways[] = {
    {"fence", "MPI_Put, one MPI_Win_fence a step", fence_open, fence_begin, fence_end, fence_close},
    {"post", "MPI_Put between post, start, complete, wait", post_open, post_begin, post_end,
     post_close},
    {"lock", "lock, put, unlock, for the row and for its number", window_open, lock_begin, lock_end,
     window_close},
    {"rput", "MPI_Rput and flush, one lock for all steps", rput_open, rput_begin, rput_end,
     rput_close},
    {0},
};
