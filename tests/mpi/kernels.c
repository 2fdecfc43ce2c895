/* SPDX-License-Identifier: BSD-3-Clause */
/* kernels.c - our operations (src/core/kernels.h) against their definition, bit by bit.  Not
 * against MPI_Reduce_local, which has mistakes of its own (docs/mpi-defects.md). */
#include "core/kernels.h"

#include <stdbool.h>
#include <stdint.h>

#include "testing/testing.h"

enum { N = 70, WIDEST = 8 };

typedef struct named_type {
    const char *name;
    MPI_Datatype type;
    bool real;
} named_type;

/* Bytes by chance; reals are whole numbers, zeros of both signs among them. */
static void fill(unsigned char *bytes, const named_type *t, int size)
{
    for (int i = 0; i < N * size; i++)
        bytes[i] = (unsigned char)(rand() % 4 == 0 ? 0 : rand() >> 7);
    for (int i = 0; t->real && i < N; i++) {
        const double x = rand() % 5 == 0 ? -0.0 : rand() % 2001 - 1000;
        const float y = (float)x;
        memcpy(bytes + i * size, size == 8 ? (const void *)&x : (const void *)&y, (size_t)size);
    }
}

static uint64_t load(const unsigned char *bytes, int size, bool has_sign)
{
    uint64_t x = 0;
    memcpy(&x, bytes, (size_t)size); /* little-endian, like all machines that this is tried on */
    const int gone = 64 - 8 * size;
    return has_sign ? (uint64_t)((int64_t)(x << gone) >> gone) : x;
}

/* What the standard says comes out, from numbers of 64 bits. */
static uint64_t integer(int op, bool has_sign, uint64_t a, uint64_t b)
{
    const bool less = has_sign ? (int64_t)a < (int64_t)b : a < b;
    const uint64_t results[] = {a + b,  a * b,    less ? b : a, less ? a : b, a && b,
                                a || b, !a != !b, a & b,        a | b,        a ^ b};
    return results[op];
}

static double real(int op, double a, double b)
{
    const double results[] = {a + b, a * b, a > b ? a : b, a < b ? a : b};
    return results[op];
}

static void define(int op, const named_type *t, int size, const unsigned char *from,
                   unsigned char *into)
{
    float x[2];
    double y[2];
    if (t->real && size == 4) {
        memcpy(&x[0], from, 4);
        memcpy(&x[1], into, 4);
        x[0] = (float)real(op, x[0], x[1]); /* exact: the numbers are small and whole */
        memcpy(into, &x[0], 4);
    } else if (t->real) {
        memcpy(&y[0], from, 8);
        memcpy(&y[1], into, 8);
        y[0] = real(op, y[0], y[1]);
        memcpy(into, &y[0], 8);
    } else {
        const bool has_sign = strstr(t->name, "UNSIGNED") == NULL &&
                              strstr(t->name, "UINT") == NULL;
        const uint64_t r = integer(op, has_sign, load(from, size, has_sign),
                                   load(into, size, has_sign));
        memcpy(into, &r, (size_t)size);
    }
}

static void compare(int o, const char *op_name, MPI_Op op, const named_type *t)
{
    _Alignas(64) unsigned char from[N * WIDEST], ours[N * WIDEST], right[N * WIDEST];
    const cco_kernel kernel = cco_kernel_of(op, t->type);
    int size;
    MPI_Type_size(t->type, &size);
    snprintf(testing_label, sizeof testing_label, "%s of %s", op_name, t->name);
    for (int n = 0; n <= N && kernel != NULL; n++) {
        fill(from, t, size);
        fill(ours, t, size);
        memcpy(right, ours, sizeof ours);
        kernel(from, ours, (size_t)n);
        for (int i = 0; i < n; i++)
            define(o, t, size, from + i * size, right + i * size);
        CHECK(memcmp(ours, right, (size_t)(N * size)) == 0, "%d elements", n);
    }
}

static int with_kernel(MPI_Op op, const named_type *types, int n)
{
    int count = 0;
    for (int i = 0; i < n; i++)
        count += cco_kernel_of(op, types[i].type) != NULL;
    return count;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
#define INTEGER(type) {#type, type, false}
    const named_type types[] = {
        INTEGER(MPI_INT),
        INTEGER(MPI_LONG),
        INTEGER(MPI_LONG_LONG),
        INTEGER(MPI_SHORT),
        INTEGER(MPI_SIGNED_CHAR),
        INTEGER(MPI_UNSIGNED),
        INTEGER(MPI_UNSIGNED_LONG),
        INTEGER(MPI_UNSIGNED_LONG_LONG),
        INTEGER(MPI_UNSIGNED_SHORT),
        INTEGER(MPI_UNSIGNED_CHAR),
        INTEGER(MPI_INT8_T),
        INTEGER(MPI_INT16_T),
        INTEGER(MPI_INT32_T),
        INTEGER(MPI_INT64_T),
        INTEGER(MPI_UINT8_T),
        INTEGER(MPI_UINT16_T),
        INTEGER(MPI_UINT32_T),
        INTEGER(MPI_UINT64_T),
        INTEGER(MPI_BYTE),
        {"MPI_DOUBLE", MPI_DOUBLE, true},
        {"MPI_FLOAT", MPI_FLOAT, true},
    };
    const MPI_Op ops[] = {MPI_SUM, MPI_PROD, MPI_MAX,  MPI_MIN, MPI_LAND,
                          MPI_LOR, MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR};
    static const char *const names[] = {"sum", "prod", "max",  "min", "land",
                                        "lor", "lxor", "band", "bor", "bxor"};
    for (int o = 0; o < LEN(ops); o++) {
        const int arithmetic = 20, logical = 18, bitwise = 19;
        const int expected = o < 4 ? arithmetic : o < 7 ? logical : bitwise;
        CHECK(with_kernel(ops[o], types, LEN(types)) == expected, "%s", names[o]);
        for (int i = 0; i < LEN(types); i++)
            compare(o, names[o], ops[o], &types[i]);
    }
    CHECK(cco_kernel_of(MPI_MAXLOC, MPI_DOUBLE_INT) == NULL, "pairs");
    CHECK(cco_kernel_of(MPI_SUM, MPI_DATATYPE_NULL) == NULL, "no type");
    CHECK(cco_kernel_of(MPI_OP_NULL, MPI_INT) == NULL, "no operation");
    MPI_Finalize();
    return testing_end("kernels");
}
