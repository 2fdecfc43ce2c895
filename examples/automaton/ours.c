/* SPDX-License-Identifier: BSD-3-Clause */
/* ours.c - crestacoll: its neighbourhood collective by chosen implementations, and puts with a
 * signal into memory that the ranks of a node share. */
#include <string.h>

#include <crestacoll_shmem.h>

#include "exchange.h"

static void os_open(exchange *x)
{
    exchange_memory(x);
    CRESTA_Set_impl(x->comm, "neighbor_alltoall=os");
}

static void shm_open_(exchange *x)
{
    exchange_memory(x);
    CRESTA_Set_impl(x->comm, "neighbor_alltoall=shm");
}

static void neighbor_begin(exchange *x, const int *rows[SIDES], int step)
{
    for (int side = 0; side < SIDES; side++)
        memcpy(x->out[side], rows[side], sizeof x->out[side]);
    CRESTA_Neighbor_alltoall(x->out, COLUMNS, MPI_INT, x->mine->rows[step % 2], COLUMNS, MPI_INT,
                             x->comm);
}

static void neighbor_end(exchange *x, int step)
{
    (void)x, (void)step;
}

/* The number of the step is the signal, which comes behind the row: no synchronization at all. */
static void symmetric_open(exchange *x)
{
    CRESTA_Shmem_init(x->comm);
    x->mine = shmem_calloc(1, sizeof *x->mine);
    if (x->mine == NULL)
        MPI_Abort(x->comm, 1);
}

static void symmetric_begin(exchange *x, const int *rows[SIDES], int step)
{
    for (int side = 0; side < SIDES; side++)
        shmem_putmem_signal(x->mine->rows[step % 2][1 - side], rows[side], sizeof(int[COLUMNS]),
                            &x->mine->come[1 - side], (uint64_t)step, SHMEM_SIGNAL_SET,
                            x->peers[side]);
}

static void symmetric_end(exchange *x, int step)
{
    for (int side = 0; side < SIDES; side++)
        shmem_signal_wait_until(&x->mine->come[side], SHMEM_CMP_GE, (uint64_t)step);
}

static void symmetric_close(exchange *x)
{
    shmem_free(x->mine);
    shmem_finalize();
}

const way our_ways[] = {
    {"os", "CRESTA_Neighbor_alltoall by windows of the MPI", os_open, neighbor_begin, neighbor_end,
     exchange_no_memory},
    {"shm", "CRESTA_Neighbor_alltoall by shared memory", shm_open_, neighbor_begin, neighbor_end,
     exchange_no_memory},
    {"put", "shmem_putmem_signal of crestacoll_shmem.h", symmetric_open, symmetric_begin,
     symmetric_end, symmetric_close},
    {0},
};
