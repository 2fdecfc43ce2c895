/* SPDX-License-Identifier: BSD-3-Clause */
/* made_types.h - random derived datatypes, types in types, and where their bytes lie. */
#ifndef MADE_TYPES_H
#define MADE_TYPES_H

#include <mpi.h>
#include <stdbool.h>
#include <stdlib.h>

#include "testing/testing.h"

enum { BLOCKS = 4, MOST = 2000 /* bytes of a type */ };

static int below(int n)
{
    return rand() % n;
}

/* A type and where its bytes lie, in order, by what the standard says of its constructor; only
 * extents of inner types are the MPI's. */
typedef struct made {
    MPI_Datatype type;
    int count;
    long at[MOST];
} made;

/* `n` times the inner type, from `at` on; of more than MOST bytes there is no telling. */
static void put(made *to, const made *inner, long at, int n)
{
    MPI_Aint low, extent;
    MPI_Type_get_extent(inner->type, &low, &extent);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < inner->count; k++) {
            if (to->count < MOST)
                to->at[to->count] = at + i * extent + inner->at[k];
            to->count++;
        }
    to->count = to->count < MOST ? to->count : MOST;
}

static long extent_of(const made *m)
{
    MPI_Aint low, extent;
    MPI_Type_get_extent(m->type, &low, &extent);
    return extent;
}

static void make_named(made *m)
{
    const MPI_Datatype some[] = {MPI_CHAR, MPI_SHORT, MPI_INT, MPI_DOUBLE, MPI_2INT, MPI_BYTE};
    m->type = some[below(LEN(some))];
    MPI_Type_size(m->type, &m->count);
    for (int i = 0; i < m->count; i++)
        m->at[i] = i;
}

static void make_subarray(made *m, const made *inner)
{
    int sizes[3], subsizes[3], starts[3];
    const bool c = below(2);
    for (int i = 0; i < 3; i++) {
        sizes[i] = 1 + below(4);
        subsizes[i] = 1 + below(sizes[i]);
        starts[i] = below(sizes[i] - subsizes[i] + 1);
    }
    MPI_Type_create_subarray(3, sizes, subsizes, starts, c ? MPI_ORDER_C : MPI_ORDER_FORTRAN,
                             inner->type, &m->type);
    const int fast = c ? 2 : 0, slow = c ? 0 : 2;
    for (int i = 0; i < subsizes[slow]; i++)
        for (int k = 0; k < subsizes[1]; k++) {
            const int row = (starts[slow] + i) * sizes[1] + starts[1] + k;
            put(m, inner, (long)(row * sizes[fast] + starts[fast]) * extent_of(inner),
                subsizes[fast]);
        }
}

static void make(made *m, int levels);

static void make_struct(made *m, int levels)
{
    MPI_Datatype types[BLOCKS];
    MPI_Aint places[BLOCKS];
    int lengths[BLOCKS];
    const int blocks = 1 + below(BLOCKS);
    made *inner = malloc(sizeof *inner);
    for (int i = 0; i < blocks; i++) {
        make(inner, levels);
        types[i] = inner->type;
        lengths[i] = below(3);
        places[i] = below(200) - 60;
        put(m, inner, (long)places[i], lengths[i]);
    }
    MPI_Type_create_struct(blocks, lengths, places, types, &m->type);
    free(inner);
}

/* Blocks anywhere, also over each other: packed, but never unpacked. */
static void make_blocks(made *m, const made *inner, int kind)
{
    int lengths[BLOCKS], places[BLOCKS];
    MPI_Aint bytes[BLOCKS];
    const int blocks = 1 + below(BLOCKS), length = below(3);
    for (int i = 0; i < blocks; i++) {
        lengths[i] = kind < 2 ? below(3) : length;
        places[i] = below(12) - 4;
        bytes[i] = below(120) - 40;
        put(m, inner, (long)(kind % 2 ? bytes[i] : places[i] * extent_of(inner)), lengths[i]);
    }
    if (kind == 0)
        MPI_Type_indexed(blocks, lengths, places, inner->type, &m->type);
    else if (kind == 1)
        MPI_Type_create_hindexed(blocks, lengths, bytes, inner->type, &m->type);
    else if (kind == 2)
        MPI_Type_create_indexed_block(blocks, length, places, inner->type, &m->type);
    else
        MPI_Type_create_hindexed_block(blocks, length, bytes, inner->type, &m->type);
}

static void make_vector(made *m, const made *inner, bool bytes)
{
    const int blocks = below(4), length = below(4), stride = bytes ? below(90) - 45 : below(9) - 4;
    if (bytes)
        MPI_Type_create_hvector(blocks, length, stride, inner->type, &m->type);
    else
        MPI_Type_vector(blocks, length, stride, inner->type, &m->type);
    for (int i = 0; i < blocks; i++)
        put(m, inner, (long)i * stride * (bytes ? 1 : extent_of(inner)), length);
}

static void make_simple(made *m, const made *inner, int kind)
{
    const int n = kind == 0 ? below(4) : 1;
    if (kind == 0)
        MPI_Type_contiguous(n, inner->type, &m->type);
    else if (kind == 1)
        MPI_Type_create_resized(inner->type, below(40) - 20, below(80) - 20, &m->type);
    else
        MPI_Type_dup(inner->type, &m->type);
    put(m, inner, 0, n);
}

static void make(made *m, int levels)
{
    *m = (made){.count = 0};
    if (levels == 0) {
        make_named(m);
        return;
    }
    made *inner = malloc(sizeof *inner);
    make(inner, levels - 1 - below(levels));
    const int kind = below(9);
    if (kind < 3)
        make_simple(m, inner, kind);
    else if (kind < 5)
        make_vector(m, inner, kind == 3);
    else if (kind == 5)
        make_subarray(m, inner);
    else if (kind == 6)
        make_struct(m, levels - 1);
    else
        make_blocks(m, inner, below(4));
    free(inner);
}

#endif
