/* SPDX-License-Identifier: BSD-3-Clause */
/* field.c - see field.h. */
#include "field.h"

#include <mpi.h>
#include <stdlib.h>

static int *row(int *states, int i)
{
    return states + (size_t)i * COLUMNS;
}

field field_make(int first, int rows)
{
    const size_t bytes = sizeof(int) * COLUMNS * (size_t)rows;
    field f = {first, rows, malloc(bytes), malloc(bytes)};
    if (f.now == NULL || f.next == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < rows; i++)
        for (int k = 0; k < COLUMNS; k++)
            row(f.now, i)[k] = ((first + i) * 37 + k * 11 + (first + i) * k % 251) % 256;
    return f;
}

void field_free(field *f)
{
    free(f->now);
    free(f->next);
}

/* Weights 1 2 1, 2 4 2, 1 2 1, and what keeps it in motion. */
static int rule(int sum)
{
    return (sum / 16 + sum / 4 + sum % 7) & 255;
}

void field_row(field *f, int i, const int *above, const int *below)
{
    const int *mid = row(f->now, i), last = COLUMNS - 1;
    int *to = row(f->next, i);
    int column[COLUMNS]; /* sums of three rows */
    for (int k = 0; k < COLUMNS; k++)
        column[k] = above[k] + 2 * mid[k] + below[k];
    to[0] = rule(column[last] + 2 * column[0] + column[1]);
    for (int k = 1; k < last; k++)
        to[k] = rule(column[k - 1] + 2 * column[k] + column[k + 1]);
    to[last] = rule(column[last - 1] + 2 * column[last] + column[0]);
}

void field_inner(field *f)
{
    for (int i = 1; i < f->rows - 1; i++)
        field_row(f, i, row(f->now, i - 1), row(f->now, i + 1));
}

void field_outer(field *f, const int *above, const int *below)
{
    const int last = f->rows - 1;
    field_row(f, 0, above, last > 0 ? row(f->now, 1) : below);
    if (last > 0)
        field_row(f, last, row(f->now, last - 1), below);
    int *states = f->now;
    f->now = f->next;
    f->next = states;
}

int64_t field_hash(const field *f)
{
    const int64_t prime = 2147483647;
    int64_t all = 0;
    for (int i = 0; i < f->rows; i++) {
        int64_t one = 1;
        for (int k = 0; k < COLUMNS; k++)
            one = (one * 31 + row(f->now, i)[k] + 1) % prime;
        all += one * (1 + (f->first + i) * 7919LL % prime) % prime;
    }
    return all;
}
