/* SPDX-License-Identifier: BSD-3-Clause */
/* two_sided.c - sends and receives, and the MPI's neighbourhood collective. */
#include <stdlib.h>
#include <string.h>

#include "exchange.h"

void exchange_memory(exchange *x)
{
    x->mine = calloc(1, sizeof *x->mine);
    if (x->mine == NULL)
        MPI_Abort(x->comm, 1);
}

void exchange_no_memory(exchange *x)
{
    free(x->mine);
}

/* A row that goes up comes from below: tags say the side that it arrives on. */
static void messages_begin(exchange *x, const int *rows[SIDES], int step)
{
    for (int side = 0; side < SIDES; side++)
        MPI_Irecv(x->mine->rows[step % 2][side], COLUMNS, MPI_INT, x->peers[side], side, x->comm,
                  &x->requests[side]);
    for (int side = 0; side < SIDES; side++)
        MPI_Isend(rows[side], COLUMNS, MPI_INT, x->peers[side], 1 - side, x->comm,
                  &x->requests[SIDES + side]);
}

static void messages_end(exchange *x, int step)
{
    MPI_Status statuses[2 * SIDES];
    (void)step;
    MPI_Waitall(2 * SIDES, x->requests, statuses);
}

static void neighbor_begin(exchange *x, const int *rows[SIDES], int step)
{
    for (int side = 0; side < SIDES; side++)
        memcpy(x->out[side], rows[side], sizeof x->out[side]);
    MPI_Neighbor_alltoall(x->out, COLUMNS, MPI_INT, x->mine->rows[step % 2], COLUMNS, MPI_INT,
                          x->comm);
}

static void neighbor_end(exchange *x, int step)
{
    (void)x, (void)step;
}

const way two_sided_ways[] = {
    {"two-sided", "MPI_Isend, MPI_Irecv", exchange_memory, messages_begin, messages_end,
     exchange_no_memory},
    {"two-sided-2", "the same again: how far it differs from itself", exchange_memory,
     messages_begin, messages_end, exchange_no_memory},
    {"neighbor", "MPI_Neighbor_alltoall", exchange_memory, neighbor_begin, neighbor_end,
     exchange_no_memory},
    {0},
};
