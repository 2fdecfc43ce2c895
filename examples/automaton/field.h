/* SPDX-License-Identifier: BSD-3-Clause */
/* field.h - a cellular automaton of nine points: the next state of a cell depends on its own and on
 * those of the eight cells around it.  The field is a torus; a rank has a strip of whole rows. */
#ifndef FIELD_H
#define FIELD_H

#include <stdint.h>

enum { COLUMNS = 2048 }; /* 8 KB in a row */

typedef struct field {
    int first, rows; /* of all rows, those of this rank */
    int *now, *next; /* states 0 to 255, row by row */
} field;

/* Rows `first` to `first` + `rows` - 1, in their first state. */
field field_make(int first, int rows);
void field_free(field *f);

/* The next state of row i, between the rows above and below it. */
void field_row(field *f, int i, const int *above, const int *below);

/* The next state of all rows that have both neighbours here. */
void field_inner(field *f);

/* The next state of the outer rows, whose neighbours beyond came from elsewhere; then it is the
 * state of now. */
void field_outer(field *f, const int *above, const int *below);

/* A hash of the states and where they are; those of all strips add up to that of the field. */
int64_t field_hash(const field *f);

#endif
