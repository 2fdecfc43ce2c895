/* SPDX-License-Identifier: BSD-3-Clause */
/* kernels.c - see kernels.h.  Integers go by width: sums and products of both signs are the same
 * bits.  The types may alias what the program keeps in its buffers. */
#include "core/kernels.h"

#include <stdint.h>

typedef uint8_t __attribute__((may_alias)) u8;
typedef uint16_t __attribute__((may_alias)) u16;
typedef uint32_t __attribute__((may_alias)) u32;
typedef uint64_t __attribute__((may_alias)) u64;
typedef int8_t __attribute__((may_alias)) i8;
typedef int16_t __attribute__((may_alias)) i16;
typedef int32_t __attribute__((may_alias)) i32;
typedef int64_t __attribute__((may_alias)) i64;
typedef float __attribute__((may_alias)) r32;
typedef double __attribute__((may_alias)) r64;

#define T u8
#define S i8
#define KERNEL(name) i8_##name
#include "core/kernels_integer.inc"
#define T u16
#define S i16
#define KERNEL(name) i16_##name
#include "core/kernels_integer.inc"
#define T u32
#define S i32
#define KERNEL(name) i32_##name
#include "core/kernels_integer.inc"
#define T u64
#define S i64
#define KERNEL(name) i64_##name
#include "core/kernels_integer.inc"
#define T r32
#define KERNEL(name) r32_##name
#include "core/kernels_real.inc"
#define T r64
#define KERNEL(name) r64_##name
#include "core/kernels_real.inc"

/* What a type is to an operation. */
typedef enum kind { INTEGER, UNSIGNED, REAL, BYTE, KINDS } kind;

enum { WIDTHS = 4 }; /* 1, 2, 4 and 8 bytes */

typedef struct row {
    MPI_Op op;
    cco_kernel kernels[KINDS][WIDTHS];
} row;

#define INTEGERS(name) {i8_##name, i16_##name, i32_##name, i64_##name}
#define REALS(name) {NULL, NULL, r32_##name, r64_##name}

/* Which pairs the standard allows: MPI 4.0, section 6.9.2. */
static const row rows[] = {
    {MPI_SUM, {INTEGERS(sum), INTEGERS(sum), REALS(sum), {NULL}}},
    {MPI_PROD, {INTEGERS(prod), INTEGERS(prod), REALS(prod), {NULL}}},
    {MPI_MAX, {INTEGERS(max), INTEGERS(umax), REALS(max), {NULL}}},
    {MPI_MIN, {INTEGERS(min), INTEGERS(umin), REALS(min), {NULL}}},
    {MPI_LAND, {INTEGERS(land), INTEGERS(land), {NULL}, {NULL}}},
    {MPI_LOR, {INTEGERS(lor), INTEGERS(lor), {NULL}, {NULL}}},
    {MPI_LXOR, {INTEGERS(lxor), INTEGERS(lxor), {NULL}, {NULL}}},
    {MPI_BAND, {INTEGERS(band), INTEGERS(band), {NULL}, {i8_band}}},
    {MPI_BOR, {INTEGERS(bor), INTEGERS(bor), {NULL}, {i8_bor}}},
    {MPI_BXOR, {INTEGERS(bxor), INTEGERS(bxor), {NULL}, {i8_bxor}}},
};

typedef struct known {
    MPI_Datatype type;
    kind kind;
    size_t size;
} known;

/* The types of the standard whose values C knows.  Fortran's LOGICAL, complex numbers, pairs and
 * long double are the MPI's business. */
static const known types[] = {
    {MPI_DOUBLE, REAL, sizeof(double)},
    {MPI_FLOAT, REAL, sizeof(float)},
    {MPI_INT, INTEGER, sizeof(int)},
    {MPI_LONG, INTEGER, sizeof(long)},
    {MPI_LONG_LONG, INTEGER, sizeof(long long)},
    {MPI_SHORT, INTEGER, sizeof(short)},
    {MPI_SIGNED_CHAR, INTEGER, 1},
    {MPI_UNSIGNED, UNSIGNED, sizeof(unsigned)},
    {MPI_UNSIGNED_LONG, UNSIGNED, sizeof(unsigned long)},
    {MPI_UNSIGNED_LONG_LONG, UNSIGNED, sizeof(unsigned long long)},
    {MPI_UNSIGNED_SHORT, UNSIGNED, sizeof(unsigned short)},
    {MPI_UNSIGNED_CHAR, UNSIGNED, 1},
    {MPI_INT8_T, INTEGER, 1},
    {MPI_INT16_T, INTEGER, 2},
    {MPI_INT32_T, INTEGER, 4},
    {MPI_INT64_T, INTEGER, 8},
    {MPI_UINT8_T, UNSIGNED, 1},
    {MPI_UINT16_T, UNSIGNED, 2},
    {MPI_UINT32_T, UNSIGNED, 4},
    {MPI_UINT64_T, UNSIGNED, 8},
    {MPI_BYTE, BYTE, 1},
};

cco_kernel cco_kernel_of(MPI_Op op, MPI_Datatype type)
{
    const size_t n = sizeof types / sizeof types[0], m = sizeof rows / sizeof rows[0];
    size_t t = 0, r = 0;
    while (t < n && types[t].type != type)
        t++;
    while (r < m && rows[r].op != op)
        r++;
    return t < n && r < m ? rows[r].kernels[types[t].kind][__builtin_ctzl(types[t].size)] : NULL;
}
