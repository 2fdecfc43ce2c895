/* SPDX-License-Identifier: BSD-3-Clause */
/* kit.c - operations and types of reductions at random.  All results are exact, in any order of
 * combining; values are small, where the MPIs are wrong about large ones (docs/mpi-defects.md). */
#include "task.h"

#include <stdint.h>
#include <string.h>

/* An element of the operations of our own: two numbers, 4 bytes each, somewhere in it. */
static void combine(const char *in, char *out, int len, MPI_Datatype type, bool affine)
{
    MPI_Aint lb, extent, low, span;
    MPI_Type_get_extent(type, &lb, &extent);
    MPI_Type_get_true_extent(type, &low, &span);
    const MPI_Aint second = span - (MPI_Aint)sizeof(uint32_t);
    for (int i = 0; i < len; i++, in += extent, out += extent) {
        uint32_t a[2], b[2];
        memcpy(&a[0], in, 4);
        memcpy(&a[1], in + second, 4);
        memcpy(&b[0], out, 4);
        memcpy(&b[1], out + second, 4);
        b[1] = affine ? a[1] * b[0] + b[1] : a[1] + b[1]; /* x -> a0 x + a1, then b */
        b[0] = affine ? a[0] * b[0] : a[0] ^ b[0];
        memcpy(out, &b[0], 4);
        memcpy(out + second, &b[1], 4);
    }
}

static void affine(void *in, void *out, int *len, MPI_Datatype *type)
{
    combine(in, out, *len, *type, true);
}

static void sums(void *in, void *out, int *len, MPI_Datatype *type)
{
    combine(in, out, *len, *type, false);
}

static void by_user(struct kit *kit, bool gaps, dice *d)
{
    MPI_Datatype type, inner;
    kit->cell = BYTES_BY_CHANCE;
    kit->user = one_in(d, 2) ? affine : sums;
    kit->commutes = kit->user == sums && one_in(d, 2);
    switch (below(d, 4)) {
    case 0:
        MPI_Type_contiguous(2, MPI_UNSIGNED, &type);
        break;
    case 1:
        MPI_Type_contiguous(2, MPI_UNSIGNED, &inner);
        MPI_Type_create_resized(inner, 0, gaps ? 16 : 8, &type);
        MPI_Type_free(&inner);
        break;
    case 2:
        MPI_Type_vector(2, 1, 2, MPI_UNSIGNED, &type);
        break;
    default:
        kit->shape = shape_of(MPI_INT64_T, false); /* predefined, with an operation that is not */
        return;
    }
    MPI_Type_commit(&type);
    kit->shape = shape_of(type, true);
}

static void by_number(struct kit *kit, dice *d)
{
    static const struct {
        enum cell cell;
        int which;
    } cells[] = {{I32, 0}, {F64, 1}, {I64, 2}, {I32, 3}, {F32, 4}, {I16, 5}, {I8, 6}, {I64, 7}};
    const MPI_Datatype types[] = {MPI_INT,   MPI_DOUBLE, MPI_INT64_T,     MPI_UNSIGNED,
                                  MPI_FLOAT, MPI_SHORT,  MPI_SIGNED_CHAR, MPI_UNSIGNED_LONG};
    const MPI_Op ops[] = {MPI_SUM, MPI_MAX, MPI_MIN, MPI_PROD};
    const int type = below(d, 8), op = below(d, 4);
    kit->op = ops[op];
    kit->cell = cells[type].cell;
    kit->values = op == 3 ? 2 : 9;
    kit->positive = op == 3;
    MPI_Datatype handle = types[type];
    if (kit->cell == F64 && one_in(d, 3) && has(CLASS_f90))
        MPI_Type_create_f90_real(15, MPI_UNDEFINED, &handle);
    if (kit->cell == F64 && op == 0 && one_in(d, 3))
        handle = MPI_C_DOUBLE_COMPLEX;
    kit->shape = shape_of(handle, false);
}

static void by_place(struct kit *kit, dice *d)
{
    const MPI_Datatype types[] = {MPI_2INT, MPI_FLOAT_INT, MPI_DOUBLE_INT};
    const int which = below(d, 3);
    kit->op = one_in(d, 2) ? MPI_MINLOC : MPI_MAXLOC;
    kit->cell = INT_INT + (enum cell)which;
    kit->values = 3;
    kit->shape = shape_of(types[which], false);
}

static void by_bits(struct kit *kit, dice *d)
{
    const MPI_Op bits[] = {MPI_BAND, MPI_BOR, MPI_BXOR}, truths[] = {MPI_LAND, MPI_LOR, MPI_LXOR};
    const MPI_Datatype types[] = {MPI_INT, MPI_BYTE, MPI_UINT64_T};
    if (one_in(d, 2)) {
        kit->op = bits[below(d, 3)];
        kit->cell = BYTES_BY_CHANCE;
        kit->shape = shape_of(types[below(d, 3)], false);
        return;
    }
    kit->op = truths[below(d, 3)];
    kit->cell = I32;
    kit->values = 2;
    kit->shape = shape_of(MPI_INT, false);
}

void kit_by_chance(struct kit *kit, bool gaps, dice *d)
{
    const int which = below(d, 10);
    *kit = (struct kit){.values = 1, .commutes = true};
    if (which < 3 && has(CLASS_userops))
        by_user(kit, gaps, d);
    else if (which < 7)
        by_number(kit, d);
    else if (which < 8)
        by_place(kit, d);
    else
        by_bits(kit, d);
    kit->type = kit->shape.type;
    if (kit->user)
        MPI_Op_create(kit->user, kit->commutes, &kit->op);
}
