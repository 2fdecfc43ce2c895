/* SPDX-License-Identifier: BSD-3-Clause */
/* shape.c - see shape.h. */
#include "shape.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

MPI_Datatype base_by_chance(dice *d)
{
    const MPI_Datatype list[] = {MPI_INT,     MPI_CHAR, MPI_DOUBLE,           MPI_SHORT, MPI_FLOAT,
                                 MPI_INT64_T, MPI_BYTE, MPI_C_DOUBLE_COMPLEX, MPI_2INT};
    MPI_Datatype type;
    const int which = below(d, 12), kind = below(d, 3);
    if (which < 9 || !has(CLASS_f90))
        return list[which % 9];
    if (kind == 0)
        MPI_Type_create_f90_real(which == 9 ? 6 : 15, MPI_UNDEFINED, &type);
    else if (kind == 1)
        MPI_Type_create_f90_integer(which, &type);
    else
        MPI_Type_create_f90_complex(which == 9 ? 6 : 15, MPI_UNDEFINED, &type);
    return type;
}

struct shape shape_of(MPI_Datatype type, bool made)
{
    struct shape s = {.type = type, .made = made};
    MPI_Aint lb;
    int size;
    MPI_Type_size(type, &size);
    MPI_Type_get_extent(type, &lb, &s.extent);
    MPI_Type_get_true_extent(type, &s.low, &s.high);
    s.high += s.low;
    if (size == 0)
        s.low = s.high = 0;
    return s;
}

static MPI_Datatype one_element(dice *d, MPI_Datatype base, MPI_Aint extent)
{
    MPI_Datatype type;
    const int one = 1;
    const MPI_Aint at = extent * below(d, 3);
    switch (below(d, 4)) {
    case 0:
        MPI_Type_create_resized(base, 0, extent * (1 + below(d, 3)), &type);
        break;
    case 1:
        MPI_Type_create_resized(base, -extent, extent * 3, &type);
        break;
    case 2:
        MPI_Type_dup(base, &type);
        break;
    default:
        MPI_Type_create_hindexed(1, &one, &at, base, &type);
    }
    return type;
}

static MPI_Datatype several(dice *d, MPI_Datatype base, int unit, MPI_Aint extent)
{
    const int half = unit / 2, lengths[2] = {half, unit - half};
    const MPI_Aint swapped[2] = {extent * (unit - half), 0};
    const int displs[2] = {1 + below(d, 3), half + 5};
    const MPI_Datatype bases[2] = {base, base};
    MPI_Datatype type, inner;
    switch (below(d, 6)) {
    case 0:
        MPI_Type_vector(unit, 1, 2, base, &type);
        break;
    case 1:
        MPI_Type_indexed(2, lengths, displs, base, &type);
        break;
    case 2:
        MPI_Type_create_struct(2, lengths, swapped, bases, &type);
        break;
    case 3:
        MPI_Type_create_hvector(unit, 1, -extent, base, &type);
        break;
    case 4:
        MPI_Type_create_resized(base, 0, 2 * extent, &inner);
        MPI_Type_contiguous(unit, inner, &type);
        MPI_Type_free(&inner);
        break;
    default:
        MPI_Type_contiguous(unit, base, &type);
    }
    return type;
}

struct shape shape_by_chance(dice *d, MPI_Datatype base, int unit)
{
    MPI_Aint lb, extent;
    MPI_Datatype type;
    if (unit == 1 && !one_in(d, 3))
        return shape_of(base, false);
    MPI_Type_get_extent(base, &lb, &extent);
    if (unit == 0)
        MPI_Type_contiguous(0, base, &type);
    else
        type = unit == 1 ? one_element(d, base, extent) : several(d, base, unit, extent);
    MPI_Type_commit(&type);
    return shape_of(type, true);
}

void shape_free(struct shape *s)
{
    if (s->made)
        MPI_Type_free(&s->type);
    s->made = false;
}

static void side_alloc(struct side *side, int blocks, int shapes)
{
    memset(side, 0, sizeof *side);
    side->blocks = blocks;
    side->shapes = shapes;
    side->shape = calloc((size_t)shapes + 1, sizeof *side->shape);
    side->types = calloc((size_t)blocks + SPARE, sizeof *side->types);
    side->counts = calloc((size_t)blocks + 1, sizeof *side->counts);
    side->displs = calloc((size_t)blocks + 1, sizeof *side->displs);
}

/* Signals the bytes that count elements at `at` cover. */
static void cover(MPI_Aint *range, const struct shape *s, int count, MPI_Aint at)
{
    if (count == 0 || s->high == s->low)
        return;
    const MPI_Aint low = at + s->low, high = at + s->high + (count - 1) * s->extent;
    range[0] = low < range[0] ? low : range[0];
    range[1] = high > range[1] ? high : range[1];
}

/* Room for the range; start is where offset 0 lies. */
static void room(struct side *side, const MPI_Aint *range)
{
    const MPI_Aint low = (range[0] - EDGE + 1) / EDGE * EDGE; /* rounds down: range[0] <= 0 */
    side->bytes = (size_t)(range[1] - low + EDGE - 1) / EDGE * EDGE + 2 * EDGE;
    side->seen = side->bytes;
    side->start = (char *)0 + EDGE - low;
}

static void regular(struct side *side, int n, MPI_Datatype base, int unit, bool single, bool zero,
                    dice *d, MPI_Aint *range)
{
    const int units[] = {1, unit, n > 0 && !single ? n : unit};
    const int u = n == 0 && zero ? 0 : units[below(d, 3)]; /* all ranks alike: see task.c */
    struct shape *s = side->shape;
    *s = shape_by_chance(d, base, u);
    const int count = u == 0 ? 2 : n / u;
    for (int i = 0; i < side->blocks; i++) {
        side->types[i] = s->type;
        side->counts[i] = count;
        cover(range, s, count, (MPI_Aint)i * count * s->extent);
    }
}

/* Blocks that do not overlap, in an order at random, with gaps between them. */
static void apart(struct side *side, const int *n, MPI_Datatype base, int unit,
                  enum placing placing, bool zero, dice *d, MPI_Aint *range)
{
    MPI_Aint at = 0;
    const int first = below(d, side->blocks);
    int u = one_in(d, 2) ? 1 : unit, most = 0;
    for (int i = 0; i < side->blocks; i++)
        most = n[i] > most ? n[i] : most;
    if (placing == ELEMENTS && most == 0 && zero && one_in(d, 2))
        u = 0;
    if (placing == ELEMENTS)
        side->shape[0] = shape_by_chance(d, base, u);
    for (int k = 0; k < side->blocks; k++) {
        const int i = (first + k) % side->blocks;
        struct shape *s = &side->shape[placing == ELEMENTS ? 0 : i];
        int each = u;
        if (placing == IN_BYTES) {
            each = n[i] == 0 && zero ? below(d, 2) : one_in(d, 2) && n[i] > 0 ? n[i] : u;
            *s = shape_by_chance(d, base, each);
        }
        side->types[i] = s->type;
        side->counts[i] = each == 0 ? 1 : n[i] / each;
        if (side->blocks == 1 && placing == IN_BYTES) { /* Open MPI 4.1, alone: mpi-defects.md */
            cover(range, s, side->counts[0], 0);
            break;
        }
        MPI_Aint start = placing == ELEMENTS ? at : (at - s->low + EDGE) / EDGE * EDGE;
        side->displs[i] = (int)(placing == IN_BYTES ? start : s->extent ? start / s->extent : 0);
        cover(range, s, side->counts[i], start);
        at = start + (side->counts[i] + (one_in(d, 3) ? 2 : 0)) * s->extent;
        at = placing == IN_BYTES && side->counts[i] > 0 && range[1] > at ? range[1] : at;
    }
}

void side_make(struct side *side, int blocks, const int *n, MPI_Datatype base, int unit,
               enum placing placing, bool zero, dice *d)
{
    MPI_Aint range[2] = {0, 0};
    side_alloc(side, blocks, placing == IN_BYTES ? blocks : 1);
    if (placing == REGULAR || placing == SINGLES)
        regular(side, n[0], base, unit, placing == SINGLES, zero, d, range);
    else
        apart(side, n, base, unit, placing, zero, d, range);
    room(side, range);
}

void side_one(struct side *side, int n, const struct shape *shape)
{
    MPI_Aint range[2] = {0, 0};
    side_alloc(side, 1, 1);
    side->shape[0] = *shape;
    side->shape[0].made = false;
    side->types[0] = shape->type;
    side->counts[0] = n;
    cover(range, shape, n, 0);
    room(side, range);
}

void side_see(struct side *side, int n)
{
    const struct shape *s = side->shape;
    side->seen = (size_t)side->start;
    if (n > 0)
        side->seen += (size_t)(s->high + (n - 1) * s->extent);
}

void side_memory(struct side *side, struct slot *slot, bool lend)
{
    if (lend && slot->memory && !slot->lent && side->bytes <= slot->bytes) {
        side->lent = slot;
        slot->lent = true;
        side->memory = slot->memory;
    } else {
        side->memory = aligned_alloc(EDGE, side->bytes);
    }
    side->start = side->memory + (size_t)side->start;
}

struct pair {
    double f64;
    int index;
};
struct float_pair {
    float f32;
    int index;
};

static void fill_cell(unsigned char *at, enum cell cell, int value, int index)
{
#define PUT(type, ...)                                                                             \
    do {                                                                                           \
        const type x = __VA_ARGS__;                                                                \
        memcpy(at, &x, sizeof x);                                                                  \
    } while (0)
    switch (cell) {
    case I8:
        PUT(int8_t, (int8_t)value);
        break;
    case I16:
        PUT(int16_t, (int16_t)value);
        break;
    case I32:
        PUT(int32_t, value);
        break;
    case I64:
        PUT(int64_t, value);
        break;
    case F32:
        PUT(float, (float)value);
        break;
    case F64:
        PUT(double, value);
        break;
    case INT_INT:
        PUT(int, value);
        memcpy(at + sizeof(int), &index, sizeof index);
        break;
    case FLOAT_INT:
        PUT(struct float_pair, {(float)value, index});
        break;
    case DOUBLE_INT: /* the rest of the pair stays 0: an MPI may copy it */
        PUT(double, value);
        memcpy(at + sizeof(double), &index, sizeof index);
        break;
    default:
        break;
    }
}

void side_fill(const struct side *side, enum cell cell, int values, bool positive, dice d)
{
    static const unsigned char sizes[] = {8, 1, 2, 4, 8, 4, 8, 8, 8, sizeof(struct pair)};
    const size_t step = sizes[cell];
    memset(side->memory, 0, side->bytes);
    for (size_t at = 0; at < side->bytes; at += step) {
        const unsigned long z = dice_next(&d);
        if (cell == BYTES_BY_CHANCE)
            memcpy(side->memory + at, &z, sizeof z);
        else
            fill_cell(side->memory + at, cell, (int)(z % (unsigned long)values) + positive,
                      (int)(z >> 40) % 100);
    }
}

unsigned long side_hash(const struct side *side)
{
    unsigned long hash = side->seen, word = 0;
    for (size_t at = 0; at < side->seen; at += sizeof word) {
        const size_t left = side->seen - at;
        memcpy(&word, side->memory + at, left < sizeof word ? left : sizeof word);
        hash = (hash ^ word) * 0xff51afd7ed558ccdul;
        hash ^= hash >> 32;
    }
    return hash;
}

void side_forget_types(struct side *side)
{
    for (int i = 0; i < side->shapes; i++)
        shape_free(&side->shape[i]);
}

void side_forget_arrays(struct side *side)
{
    if (!side->counts)
        return;
    memset(side->counts, 0x5a, sizeof *side->counts * (size_t)side->blocks);
    memset(side->displs, 0x5a, sizeof *side->displs * (size_t)side->blocks);
    memset(side->types, 0, sizeof *side->types * (size_t)side->blocks);
    free(side->counts);
    free(side->displs);
    free(side->types);
    side->counts = side->displs = NULL;
    side->types = NULL;
}

void side_free(struct side *side)
{
    side_forget_types(side);
    side_forget_arrays(side);
    if (side->lent)
        side->lent->lent = false;
    else
        free(side->memory);
    free(side->shape);
    memset(side, 0, sizeof *side);
}
