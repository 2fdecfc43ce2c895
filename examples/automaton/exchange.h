/* SPDX-License-Identifier: BSD-3-Clause */
/* exchange.h - how a strip gets the rows beyond its first and its last one.
 *
 * A step begins the exchange, computes the inner rows, ends it, and computes the outer rows.  What
 * is received lies in one of two buffers in turn: so nobody need ask whether a neighbour has used
 * the rows of the step before, since the neighbour's own row of this step says so. */
#ifndef EXCHANGE_H
#define EXCHANGE_H

#include <mpi.h>
#include <stdint.h>

#include "field.h"

enum { ABOVE, BELOW, SIDES };

/* What other ranks write: the rows of two steps, and the number of the last that has come. */
typedef struct halo {
    int rows[2][SIDES][COLUMNS];
    uint64_t come[SIDES];
} halo;

typedef struct exchange {
    MPI_Comm comm;    /* a ring, with that topology */
    int peers[SIDES]; /* the ranks above and below */
    halo *mine;
    const int *in[SIDES];    /* the rows that have come, after the end; mine->rows[step % 2] */
    int out[SIDES][COLUMNS]; /* rows that are sent, where they must lie side by side */
    MPI_Win window;
    MPI_Group group; /* of both peers */
    MPI_Request requests[2 * SIDES];
} exchange;

typedef struct way {
    const char *name, *what;
    void (*open)(exchange *x);
    void (*begin)(exchange *x, const int *rows[SIDES], int step); /* the first and the last row */
    void (*end)(exchange *x, int step);                           /* x->in are there */
    void (*close)(exchange *x);
} way;

/* From two_sided.c, one_sided.c, ours.c; each list ends with an empty way. */
extern const way two_sided_ways[], one_sided_ways[], our_ways[];

/* Memory for what is received, of the MPI. */
void exchange_memory(exchange *x);
void exchange_no_memory(exchange *x);

/* Lets others have the core now and then, in a loop that looks for `come`. */
void exchange_pause(int *tries);

#endif
