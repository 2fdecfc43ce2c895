/* SPDX-License-Identifier: BSD-3-Clause */
/* kernels.c - see kernels.h.  A type of the MPI is a family of numbers, of which its size takes
 * one: only the MPI knows how wide Fortran's default types are, and it may have been built without
 * them. */
#include "reduce/kernels.h"

#include "call/call.h"
#include "comm/facts.h"

typedef enum family {
    SIGNED,
    UNSIGNED,
    REAL,
    LONG_REAL,
    COMPLEX,
    LONG_COMPLEX,
    INT_INT,
    REAL_INT,
    LONG_REAL_INT,
    TWO_REALS
} family;

/* Which operations the standard allows: MPI 4.0, sections 6.9.2 and 6.9.4. */
enum {
    ARITHMETIC = 1 << CCO_LOOP_SUM | 1 << CCO_LOOP_PROD | 1 << CCO_LOOP_MAX | 1 << CCO_LOOP_MIN,
    LOGICAL = 1 << CCO_LOOP_LAND | 1 << CCO_LOOP_LOR | 1 << CCO_LOOP_LXOR,
    BITWISE = 1 << CCO_LOOP_BAND | 1 << CCO_LOOP_BOR | 1 << CCO_LOOP_BXOR,
    LOCATION = 1 << CCO_LOOP_MINLOC | 1 << CCO_LOOP_MAXLOC,
    C_INTEGER = ARITHMETIC | LOGICAL | BITWISE
};

typedef struct known {
    MPI_Datatype type;
    family family;
    int operations;
} known;

/* Fortran's LOGICAL is the MPI's business: what is true differs between compilers. */
static const known types[] = {
    {MPI_DOUBLE, REAL, ARITHMETIC},
    {MPI_FLOAT, REAL, ARITHMETIC},
    {MPI_INT, SIGNED, C_INTEGER},
    {MPI_LONG, SIGNED, C_INTEGER},
    {MPI_LONG_LONG, SIGNED, C_INTEGER},
    {MPI_SHORT, SIGNED, C_INTEGER},
    {MPI_SIGNED_CHAR, SIGNED, C_INTEGER},
    {MPI_UNSIGNED, UNSIGNED, C_INTEGER},
    {MPI_UNSIGNED_LONG, UNSIGNED, C_INTEGER},
    {MPI_UNSIGNED_LONG_LONG, UNSIGNED, C_INTEGER},
    {MPI_UNSIGNED_SHORT, UNSIGNED, C_INTEGER},
    {MPI_UNSIGNED_CHAR, UNSIGNED, C_INTEGER},
    {MPI_INT8_T, SIGNED, C_INTEGER},
    {MPI_INT16_T, SIGNED, C_INTEGER},
    {MPI_INT32_T, SIGNED, C_INTEGER},
    {MPI_INT64_T, SIGNED, C_INTEGER},
    {MPI_UINT8_T, UNSIGNED, C_INTEGER},
    {MPI_UINT16_T, UNSIGNED, C_INTEGER},
    {MPI_UINT32_T, UNSIGNED, C_INTEGER},
    {MPI_UINT64_T, UNSIGNED, C_INTEGER},
    {MPI_AINT, SIGNED, ARITHMETIC | BITWISE},
    {MPI_OFFSET, SIGNED, ARITHMETIC | BITWISE},
#ifdef MPI_COUNT
    {MPI_COUNT, SIGNED, ARITHMETIC | BITWISE},
#endif
    {MPI_BYTE, UNSIGNED, BITWISE},
    {MPI_C_BOOL, UNSIGNED, LOGICAL},
    {MPI_LONG_DOUBLE, LONG_REAL, ARITHMETIC},
    {MPI_C_FLOAT_COMPLEX, COMPLEX, ARITHMETIC},
    {MPI_C_DOUBLE_COMPLEX, COMPLEX, ARITHMETIC},
    {MPI_C_LONG_DOUBLE_COMPLEX, LONG_COMPLEX, ARITHMETIC},
    {MPI_FLOAT_INT, REAL_INT, LOCATION},
    {MPI_DOUBLE_INT, REAL_INT, LOCATION},
    {MPI_LONG_DOUBLE_INT, LONG_REAL_INT, LOCATION},
    {MPI_SHORT_INT, INT_INT, LOCATION},
    {MPI_2INT, INT_INT, LOCATION},
    {MPI_LONG_INT, INT_INT, LOCATION},
    {MPI_INTEGER, SIGNED, ARITHMETIC | BITWISE},
    {MPI_REAL, REAL, ARITHMETIC},
    {MPI_DOUBLE_PRECISION, REAL, ARITHMETIC},
    {MPI_COMPLEX, COMPLEX, ARITHMETIC},
    {MPI_DOUBLE_COMPLEX, COMPLEX, ARITHMETIC},
    {MPI_2REAL, TWO_REALS, LOCATION},
    {MPI_2DOUBLE_PRECISION, TWO_REALS, LOCATION},
    {MPI_2INTEGER, INT_INT, LOCATION},
#ifdef MPI_INTEGER4
    {MPI_INTEGER4, SIGNED, ARITHMETIC | BITWISE},
#endif
#ifdef MPI_INTEGER8
    {MPI_INTEGER8, SIGNED, ARITHMETIC | BITWISE},
#endif
#ifdef MPI_REAL4
    {MPI_REAL4, REAL, ARITHMETIC},
#endif
#ifdef MPI_REAL8
    {MPI_REAL8, REAL, ARITHMETIC},
#endif
#ifdef MPI_COMPLEX8
    {MPI_COMPLEX8, COMPLEX, ARITHMETIC},
#endif
#ifdef MPI_COMPLEX16
    {MPI_COMPLEX16, COMPLEX, ARITHMETIC},
#endif
#ifdef MPI_CXX_BOOL
    {MPI_CXX_BOOL, UNSIGNED, LOGICAL},
#endif
#ifdef MPI_CXX_FLOAT_COMPLEX
    {MPI_CXX_FLOAT_COMPLEX, COMPLEX, ARITHMETIC},
#endif
#ifdef MPI_CXX_DOUBLE_COMPLEX
    {MPI_CXX_DOUBLE_COMPLEX, COMPLEX, ARITHMETIC},
#endif
#ifdef MPI_CXX_LONG_DOUBLE_COMPLEX
    {MPI_CXX_LONG_DOUBLE_COMPLEX, LONG_COMPLEX, ARITHMETIC},
#endif
};

/* What an element of a number is in memory: bytes of data, and from one to the next. */
typedef struct shape {
    family family;
    size_t size;
    size_t step;
} shape;

#define ALONE(type) sizeof(type), sizeof(type)
/* clang-format off */
#define PAIR(one, other) \
    sizeof(one) + sizeof(other), sizeof(struct {one value; other index;})
/* clang-format on */

static const shape shapes[CCO_NUMBERS] = {
    [CCO_I8] = {SIGNED, 1, 1},
    [CCO_I16] = {SIGNED, 2, 2},
    [CCO_I32] = {SIGNED, 4, 4},
    [CCO_I64] = {SIGNED, 8, 8},
    [CCO_U8] = {UNSIGNED, 1, 1},
    [CCO_U16] = {UNSIGNED, 2, 2},
    [CCO_U32] = {UNSIGNED, 4, 4},
    [CCO_U64] = {UNSIGNED, 8, 8},
    [CCO_R32] = {REAL, ALONE(float)},
    [CCO_R64] = {REAL, ALONE(double)},
    [CCO_LONG_DOUBLE] = {LONG_REAL, ALONE(long double)},
    [CCO_C32] = {COMPLEX, ALONE(float[2])},
    [CCO_C64] = {COMPLEX, ALONE(double[2])},
    [CCO_C_LONG_DOUBLE] = {LONG_COMPLEX, ALONE(long double[2])},
    [CCO_SHORT_INT] = {INT_INT, PAIR(short, int)},
    [CCO_INT_INT] = {INT_INT, PAIR(int, int)},
    [CCO_LONG_INT] = {INT_INT, PAIR(long, int)},
    [CCO_FLOAT_INT] = {REAL_INT, PAIR(float, int)},
    [CCO_DOUBLE_INT] = {REAL_INT, PAIR(double, int)},
    [CCO_LONG_DOUBLE_INT] = {LONG_REAL_INT, PAIR(long double, int)},
    [CCO_FLOAT_FLOAT] = {TWO_REALS, PAIR(float, float)},
    [CCO_DOUBLE_DOUBLE] = {TWO_REALS, PAIR(double, double)},
};

cco_loop cco_loop_of(MPI_Op op)
{
    const MPI_Op ops[CCO_LOOPS] = {
        [CCO_LOOP_SUM] = MPI_SUM,   [CCO_LOOP_PROD] = MPI_PROD,     [CCO_LOOP_MAX] = MPI_MAX,
        [CCO_LOOP_MIN] = MPI_MIN,   [CCO_LOOP_LAND] = MPI_LAND,     [CCO_LOOP_LOR] = MPI_LOR,
        [CCO_LOOP_LXOR] = MPI_LXOR, [CCO_LOOP_BAND] = MPI_BAND,     [CCO_LOOP_BOR] = MPI_BOR,
        [CCO_LOOP_BXOR] = MPI_BXOR, [CCO_LOOP_MINLOC] = MPI_MINLOC, [CCO_LOOP_MAXLOC] = MPI_MAXLOC,
    };
    int loop = 0;
    while (loop < CCO_LOOPS && ops[loop] != op)
        loop++;
    return (cco_loop)loop;
}

/* NULL if it is none that C knows.  Where an MPI has no such type, its handle is the null one. */
static const known *known_of(MPI_Datatype type)
{
    const size_t n = sizeof types / sizeof types[0];
    size_t i = 0;
    while (i < n && types[i].type != type)
        i++;
    return type != MPI_DATATYPE_NULL && i < n ? &types[i] : NULL;
}

/* Bytes and truth values are none that one adds. */
cco_kind cco_number_kind(MPI_Datatype type)
{
    const known *known = known_of(type);
    if (known == NULL || !(known->operations & 1 << CCO_LOOP_SUM))
        return CCO_KIND_NONE;
    return known->family <= UNSIGNED ? CCO_KIND_INTEGER : CCO_KIND_FLOATING;
}

/* CCO_NUMBERS if elements of the type lie otherwise than C's. */
static cco_number kernels_number_of(const known *known)
{
    MPI_Aint low, extent;
    const size_t size = (size_t)cco_type_size(known->type);
    int i = 0;
    if (PMPI_Type_get_extent(known->type, &low, &extent) != MPI_SUCCESS || low != 0)
        return CCO_NUMBERS;
    while (i < CCO_NUMBERS && !(shapes[i].family == known->family && shapes[i].size == size &&
                                shapes[i].step == (size_t)extent))
        i++;
    return (cco_number)i;
}

cco_number cco_number_of(MPI_Datatype type)
{
    const known *known = known_of(type);
    return known != NULL ? kernels_number_of(known) : CCO_NUMBERS;
}

bool cco_op_takes(MPI_Op op, MPI_Datatype type)
{
    const cco_loop loop = cco_loop_of(op);
    const known *known = known_of(type);
    return known == NULL || (loop != CCO_LOOPS && (known->operations & 1 << loop) != 0);
}

/* NULL where this processor cannot run them. */
static const cco_loops *loops_of(cco_isa isa)
{
    switch (isa) {
    case CCO_BASELINE:
        return &cco_loops_baseline;
#ifdef CRESTA_AVX
    case CCO_AVX2:
        return __builtin_cpu_supports("avx2") ? &cco_loops_avx2 : NULL;
    case CCO_AVX512:
        /* The loops do without VBMI2, but processors that lack it (Intel's before Ice Lake) lower
         * their clock for vectors of 512 bits, and all that follows is slower for a while. */
        return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                       __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi2")
                   ? &cco_loops_avx512
                   : NULL;
#endif
    default:
        return NULL;
    }
}

static cco_kernel find_kernel(cco_isa isa, MPI_Op op, MPI_Datatype type)
{
    const cco_loops *loops = loops_of(isa);
    const cco_loop loop = cco_loop_of(op);
    const known *known = known_of(type);
    if (loops == NULL || loop == CCO_LOOPS || known == NULL || !(known->operations & 1 << loop))
        return NULL;
    const cco_number number = kernels_number_of(known);
    return number < CCO_NUMBERS ? (*loops)[number][loop] : NULL;
}

/* A call asks several times, and so does the next.  What has a kernel is of the standard: nobody
 * frees it. */
cco_kernel cco_kernel_in(cco_isa isa, MPI_Op op, MPI_Datatype type)
{
    static _Thread_local struct {
        cco_isa isa;
        MPI_Op op;
        MPI_Datatype type;
        cco_kernel kernel;
    } last;
    if (last.kernel == NULL || last.isa != isa || last.op != op || last.type != type) {
        last.isa = isa;
        last.op = op;
        last.type = type;
        last.kernel = find_kernel(isa, op, type);
    }
    return last.kernel;
}

/* The best instruction set that this processor has. */
static cco_isa best_isa(void)
{
    int best = CCO_ISAS - 1 - (int)cco_disagreement(CCO_ISAS);
    while (loops_of((cco_isa)best) == NULL)
        best--;
    return (cco_isa)best;
}

cco_kernel cco_kernel_of(MPI_Op op, MPI_Datatype type)
{
    return cco_kernel_in(best_isa(), op, type);
}

const cco_quick_sums *cco_quick_sums_here(void)
{
    switch (best_isa()) {
#ifdef CRESTA_AVX
    case CCO_AVX512:
        return &cco_quick_avx512;
    case CCO_AVX2:
        return &cco_quick_avx2;
#endif
    default:
        return &cco_quick_baseline;
    }
}
