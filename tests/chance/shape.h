/* SPDX-License-Identifier: BSD-3-Clause */
/* shape.h - random datatypes, and a side (send or receive) of a call that is made of them. */
#ifndef CHANCE_SHAPE_H
#define CHANCE_SHAPE_H

#include "chance.h"

/* EDGE: bytes around data, and what all places are multiples of.  SPARE: types behind those of the
 * blocks. */
enum { EDGE = 64, RANKS = 64, SPARE = 8 };

struct shape {
    MPI_Datatype type;
    bool made;                  /* has to be freed */
    MPI_Aint extent, low, high; /* low and high: the bytes of one element */
};

/* What memory is filled with: random bytes, or small values of a type. */
enum cell { BYTES_BY_CHANCE, I8, I16, I32, I64, F32, F64, INT_INT, FLOAT_INT, DOUBLE_INT };

/* SINGLES: regular, of types of one element of base. */
enum placing { REGULAR, SINGLES, ELEMENTS, IN_BYTES };

struct side {
    int blocks, shapes;
    struct shape *shape; /* of all blocks, or one of each */
    MPI_Datatype *types;
    int *counts, *displs;
    unsigned char *memory;
    size_t bytes, seen; /* seen: of the bytes, those that say something after the call */
    void *start;        /* what the call is given */
    struct slot *lent;  /* whose memory it is */
};

/* A random base type; not freed. */
MPI_Datatype base_by_chance(dice *d);

/* A type of `unit` elements of base. */
struct shape shape_by_chance(dice *d, MPI_Datatype base, int unit);
struct shape shape_of(MPI_Datatype type, bool made);
void shape_free(struct shape *shape);

/* Blocks of n[i] elements of base, each a multiple of `unit`.  zero: empty blocks may be elements
 * of a type without data. */
void side_make(struct side *side, int blocks, const int *n, MPI_Datatype base, int unit,
               enum placing placing, bool zero, dice *d);

/* One block of n elements of that shape, which the caller frees. */
void side_one(struct side *side, int n, const struct shape *shape);

/* Only the first n elements say something after the call. */
void side_see(struct side *side, int n);

/* Its memory, which lies in that of the slot if there is room and `lend`. */
void side_memory(struct side *side, struct slot *slot, bool lend);

/* values: of that many, from 0, or from 1 if `positive`. */
void side_fill(const struct side *side, enum cell cell, int values, bool positive, dice d);
unsigned long side_hash(const struct side *side);

/* The types and arrays may go while the call is under way. */
void side_forget_types(struct side *side);
void side_forget_arrays(struct side *side);
void side_free(struct side *side);

#endif
