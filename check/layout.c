/* SPDX-License-Identifier: BSD-3-Clause */
/* layout.c - the layouts, guarded buffers, and blocks in them. */
#include "layout.h"

#include <stdlib.h>
#include <string.h>

struct layout layouts[LAYOUTS];

/* Most are made with large counts, where the MPI has these: such types are described by functions
 * of their own. */
#if MPI_VERSION >= 4
static void make_row(int n, MPI_Datatype *type)
{
    MPI_Type_contiguous_c(n, MPI_INT, type);
}

static void make_two(int first, int second, MPI_Datatype *type)
{
    const MPI_Count one[2] = {1, 1}, at[2] = {first, second};
    if (first < 0)
        MPI_Type_indexed(2, (const int[]){1, 1}, (const int[]){first, second}, MPI_INT, type);
    else
        MPI_Type_indexed_c(2, one, at, MPI_INT, type);
}

static void resize(MPI_Datatype bare, MPI_Aint lb, MPI_Aint extent, MPI_Datatype *type)
{
    MPI_Type_create_resized_c(bare, lb, extent, type);
}
#else
static void make_row(int n, MPI_Datatype *type)
{
    MPI_Type_contiguous(n, MPI_INT, type);
}

static void make_two(int first, int second, MPI_Datatype *type)
{
    MPI_Type_indexed(2, (const int[]){1, 1}, (const int[]){first, second}, MPI_INT, type);
}

static void resize(MPI_Datatype bare, MPI_Aint lb, MPI_Aint extent, MPI_Datatype *type)
{
    MPI_Type_create_resized(bare, lb, extent, type);
}
#endif

/* Two ints at the given places (in ints), lower bound and extent likewise. */
static struct layout two(int first, int second, int lb, int extent)
{
    const MPI_Aint size = sizeof(int);
    MPI_Datatype bare, type;
    make_two(first, second, &bare);
    resize(bare, lb * size, extent * size, &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&bare);
    return (struct layout){type, 2, extent * size};
}

void layouts_make(void)
{
    layouts[INTS] = (struct layout){MPI_INT, 1, sizeof(int)};
    layouts[PAIRS] = layout_whole(2);
    layouts[GAPS] = two(0, 2, 0, 5);
    layouts[NEGATIVE] = two(-2, 1, -3, 6);
    layouts[COLUMN] = two(0, COLUMN_SPAN, 0, 1); /* more than its extent */
}

void layouts_free(void)
{
    for (int i = PAIRS; i < LAYOUTS; i++)
        MPI_Type_free(&layouts[i].type);
}

struct layout layout_whole(int n)
{
    struct layout whole = {MPI_DATATYPE_NULL, n, n * (MPI_Aint)sizeof(int)};
    make_row(n, &whole.type);
    MPI_Type_commit(&whole.type);
    return whole;
}

/* Bytes that data hardly ever have, of a period that memcpy can repeat. */
static void fill(unsigned char *bytes, size_t n)
{
    enum { PERIOD = 256 };
    for (size_t i = 0; i < n && i < PERIOD; i++)
        bytes[i] = (unsigned char)(0xA5 ^ (i * 7));
    for (size_t done = PERIOD; done < n; done *= 2)
        memcpy(bytes + done, bytes, done < n - done ? done : n - done);
}

void buffer_make(struct buffer *buffer, size_t payload)
{
    buffer->size = payload + 2 * GUARD;
    buffer->now = malloc(3 * buffer->size);
    buffer->before = buffer->now + buffer->size;
    buffer->after = buffer->before + buffer->size;
    buffer->start = buffer->now + GUARD;
    fill(buffer->before, buffer->size);
    memcpy(buffer->after, buffer->before, buffer->size);
}

void buffer_free(struct buffer *buffer)
{
    free(buffer->now);
    *buffer = (struct buffer){0};
}

void buffer_reset(const struct buffer *buffer)
{
    if (buffer->size > 0)
        memcpy(buffer->now, buffer->before, buffer->size);
}

ptrdiff_t buffer_differs(const struct buffer *buffer)
{
    if (buffer->size == 0 || memcmp(buffer->now, buffer->after, buffer->size) == 0)
        return -GUARD - 1;
    size_t i = 0;
    while (buffer->now[i] == buffer->after[i])
        i++;
    return (ptrdiff_t)i - GUARD;
}

void side_make(struct side *side, int blocks, const int *ints, enum placing placing)
{
    size_t end = 0;
    side->blocks = blocks;
    for (int i = 0; i < blocks; i++) { /* displacements run backwards, an element apart */
        const int b = placing == REGULAR ? i : blocks - 1 - i;
        const struct layout *l = &side->layout[b];
        side->types[b] = l->type;
        side->counts[b] = ints[b] / l->unit;
        side->at[b] = end;
        side->displs[b] = (int)(placing == BYTES ? end : end / (size_t)l->extent);
        end += (size_t)(side->counts[b] + (placing != REGULAR)) * (size_t)l->extent +
               (placing == BYTES ? 32 : 0);
    }
    buffer_make(&side->buffer, end);
}

void side_put(const struct side *side, unsigned char *state, int block, const int *values)
{
    const int bytes = side->counts[block] * side->layout[block].unit * (int)sizeof(int);
    int position = 0;
    if (bytes > 0)
        MPI_Unpack(values, bytes, &position, state + GUARD + side->at[block], side->counts[block],
                   side->types[block], MPI_COMM_SELF);
}
