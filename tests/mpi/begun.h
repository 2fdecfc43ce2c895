/* SPDX-License-Identifier: BSD-3-Clause */
/* begun.h - a split-phase collective on ints with buffers of its own and its right result: for
 * tests that have many under way. */
#ifndef TESTS_BEGUN_H
#define TESTS_BEGUN_H

#include "call.h"

struct begun {
    MPI_Request request; /* MPI_REQUEST_NULL: over */
    long number;         /* what its data are made of, equal on all ranks */
    struct call call;
    int rank, size, n; /* n: ints of a block, or of its smallest */
    int *send, *recv, *right;
    int room;    /* ints of each */
    int *arrays; /* counts and displacements */
    MPI_Datatype *types;
};

/* Begins a collective on `comm`, with blocks of about `n` ints; arrays are gone afterwards.  With
 * `spoil` the send buffer is overwritten at once. */
void begun_start(struct begun *f, enum coll coll, MPI_Comm comm, int n, int root, long number,
                 bool spoil);

/* Its request is MPI_REQUEST_NULL: compares the result with the right one, frees. */
void begun_check(struct begun *f);

#endif
