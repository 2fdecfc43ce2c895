/* SPDX-License-Identifier: BSD-3-Clause */
/* ours.c - crestacoll: its neighbourhood collective by chosen implementations, and puts with a
 * signal into memory that the ranks of a node share. */
#include <string.h>

#include <crestacoll_shmem.h>

#include "exchange.h"

static void os_open(exchange *x)
{
    exchange_memory(x);
    CRESTA_Set_impl(x->comm, "neighbor_alltoallw=os");
}

static void shared_open(exchange *x)
{
    exchange_memory(x);
    CRESTA_Set_impl(x->comm, "neighbor_alltoallw=shm");
}

static void hier_open(exchange *x)
{
    exchange_memory(x);
    CRESTA_Set_impl(x->comm, "neighbor_alltoallw=hier");
}

static void neighbor_begin(exchange *x, const int *rows[SIDES], int step)
{
    static const int counts[SIDES] = {COLUMNS, COLUMNS};
    static const MPI_Aint to[SIDES] = {0, sizeof(int[COLUMNS])};
    const MPI_Datatype types[SIDES] = {MPI_INT, MPI_INT};
    const MPI_Aint from[SIDES] = {0, (const char *)rows[BELOW] - (const char *)rows[ABOVE]};
    CRESTA_Neighbor_alltoallw(rows[ABOVE], counts, from, types, x->mine->rows[step % 2], counts, to,
                              types, x->comm);
}

static void neighbor_end(exchange *x, int step)
{
    (void)x, (void)step;
}

/* The number of the step is the signal, which comes behind the row: no synchronization at all.  Two
 * ranks have a row of memory each for what passes between them, and swap them from step to step: a
 * rank writes where it has read in the step before, so that those lines are in its cache, and that
 * row is free. */
static void symmetric_open(exchange *x)
{
    CRESTA_Shmem_init(x->comm);
    x->mine = shmem_calloc(1, sizeof *x->mine);
    if (x->mine == NULL)
        MPI_Abort(x->comm, 1);
}

static int *row_of(const exchange *x, int side, int peers)
{
    return peers ? shmem_ptr(x->mine->rows[0][1 - side], x->peers[side]) : x->mine->rows[0][side];
}

static void symmetric_begin(exchange *x, const int *rows[SIDES], int step)
{
    for (int side = 0; side < SIDES; side++) {
        memcpy(row_of(x, side, step % 2), rows[side], sizeof(int[COLUMNS]));
        shmem_putmem_signal(x->mine, x->mine, 0, &x->mine->come[1 - side], (uint64_t)step,
                            SHMEM_SIGNAL_SET, x->peers[side]);
    }
}

static void symmetric_end(exchange *x, int step)
{
    for (int side = 0; side < SIDES; side++) {
        shmem_signal_wait_until(&x->mine->come[side], SHMEM_CMP_GE, (uint64_t)step);
        x->in[side] = row_of(x, side, (step + 1) % 2);
    }
}

static void symmetric_close(exchange *x)
{
    shmem_free(x->mine);
    shmem_finalize();
}

const way our_ways[] = {
    {"os", "CRESTA_Neighbor_alltoallw by windows of the MPI", os_open, neighbor_begin, neighbor_end,
     exchange_no_memory},
    {"shm", "CRESTA_Neighbor_alltoallw by shared memory", shared_open, neighbor_begin, neighbor_end,
     exchange_no_memory},
    {"hier", "the same between nodes by messages", hier_open, neighbor_begin, neighbor_end,
     exchange_no_memory},
    {"put", "shmem_putmem_signal of crestacoll_shmem.h", symmetric_open, symmetric_begin,
     symmetric_end, symmetric_close},
    {0},
};
