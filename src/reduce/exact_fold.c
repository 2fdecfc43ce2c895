/* SPDX-License-Identifier: BSD-3-Clause */
/* exact_fold.c - see exact_fold.h.  Most sums are certain without an exact one (quick_sum.inc). */
#include "reduce/exact_fold.h"

#include <fenv.h>
#include <stdint.h>
#include <string.h>

#include "call/call.h"
#include "call/data.h"
#include "reduce/exact_array.h"
#include "reduce/float_state.h"
#include "reduce/kernels.h"

/* Element by element, where `doubts` says so: words of 4 or 8 bytes. */
static void exact_fold_settle(cco_exact_number number, const cco_operands *parts, int count,
                              size_t at, char *to, const void *doubts, size_t n)
{
    int64_t digits[CCO_EXACT_DIGITS];
    cco_exact sum;
    const size_t size = cco_exact_size(number);
    cco_exact_start(&sum, digits);
    for (size_t i = 0; i < n; i++) {
        if (size == 4 ? ((const uint32_t *)doubts)[i] == 0 : ((const uint64_t *)doubts)[i] == 0)
            continue;
        cco_exact_again(&sum);
        for (int k = 0; k < count; k++)
            cco_exact_add_array(&sum, number, cco_operand(parts, k) + at + i * size, 1, 1);
        cco_exact_put(&sum, number, to + i * size);
    }
}

static void exact_fold_fold(cco_exact_number number, cco_quick_sum quick, const cco_operands *parts,
                            int count, char *to, size_t n)
{
    uint64_t doubts[CCO_QUICK];
    const size_t size = cco_exact_size(number);
    const cco_float_state before = cco_float_enter();
    size_t at = 0;
    for (size_t part; n > 0; n -= part, at += part * size) {
        part = n < CCO_QUICK ? n : CCO_QUICK;
        if (quick(parts, count, at, to + at, doubts, part))
            exact_fold_settle(number, parts, count, at, to + at, doubts, part);
    }
    cco_float_leave(before);
}

static void fold_r32(const cco_operands *parts, int count, void *to, size_t n)
{
    exact_fold_fold(CCO_EXACT_FLOAT, cco_quick_sums_here()->r32, parts, count, to, n);
}

static void fold_r64(const cco_operands *parts, int count, void *to, size_t n)
{
    exact_fold_fold(CCO_EXACT_DOUBLE, cco_quick_sums_here()->r64, parts, count, to, n);
}

static void fold_c32(const cco_operands *parts, int count, void *to, size_t n)
{
    fold_r32(parts, count, to, 2 * n);
}

static void fold_c64(const cco_operands *parts, int count, void *to, size_t n)
{
    fold_r64(parts, count, to, 2 * n);
}

#if CCO_EXACT_LONG == 1
/* As quick_sum.inc, but certain only if nothing is lost; no processor has vectors of these. */
static bool quick_long(const cco_operands *parts, int count, size_t at, long double *result)
{
    long double sum = 0, error = 0, x;
    bool lossless = true;
    for (int k = 0; k < count; k++) {
        memcpy(&x, cco_operand(parts, k) + at, sizeof x);
        const long double s = sum + x, b = s - sum, e = (sum - (s - b)) + (x - b);
        const long double t = error + e, c = t - error, f = (error - (t - c)) + (e - c);
        sum = s;
        error = t;
        lossless = lossless && f == 0;
    }
    *result = sum + error;
    return lossless && *result - *result == 0 && *result != 0;
}

static void fold_long(const cco_operands *parts, int count, void *result, size_t n)
{
    int64_t digits[CCO_EXACT_LONG_DIGITS];
    char *to = result;
    long double sum;
    cco_exact exact;
    fenv_t before;
    feholdexcept(&before);
    fesetenv(FE_DFL_ENV);
    cco_exact_start_long(&exact, digits);
    for (size_t at = 0; at < n * sizeof sum; at += sizeof sum, to += sizeof sum) {
        if (quick_long(parts, count, at, &sum)) {
            memcpy(to, &sum, CCO_EXACT_LONG_BYTES);
            continue;
        }
        cco_exact_again(&exact);
        for (int k = 0; k < count; k++)
            cco_exact_add_array(&exact, CCO_EXACT_LONG_DOUBLE, cco_operand(parts, k) + at, 1, 1);
        cco_exact_put(&exact, CCO_EXACT_LONG_DOUBLE, to);
    }
    fesetenv(&before);
}

static void fold_complex_long(const cco_operands *parts, int count, void *to, size_t n)
{
    fold_long(parts, count, to, 2 * n);
}
#elif CCO_EXACT_LONG == 2
#define fold_long fold_r64
#define fold_complex_long fold_c64
#else
#define fold_long NULL
#define fold_complex_long NULL
#endif

/* Types that MPI_Type_create_f90_real and _complex have made, by their size. */
static cco_number number_of_f90(MPI_Datatype type)
{
    const int combiner = cco_type_combiner(type);
    const MPI_Count size = cco_type_size(type);
    if (combiner == MPI_COMBINER_F90_REAL)
        return size == 4 ? CCO_R32 : size == 8 ? CCO_R64 : CCO_NUMBERS;
    if (combiner == MPI_COMBINER_F90_COMPLEX)
        return size == 8 ? CCO_C32 : size == 16 ? CCO_C64 : CCO_NUMBERS;
    return CCO_NUMBERS;
}

cco_number cco_exact_number_of(MPI_Datatype type)
{
    const cco_number number = cco_number_of(type);
    return number != CCO_NUMBERS || !cco_is_type(type) ? number : number_of_f90(type);
}

cco_fold cco_fold_of_number(cco_number number)
{
    static const cco_fold folds[CCO_NUMBERS] = {
        [CCO_R32] = fold_r32, [CCO_R64] = fold_r64, [CCO_LONG_DOUBLE] = fold_long,
        [CCO_C32] = fold_c32, [CCO_C64] = fold_c64, [CCO_C_LONG_DOUBLE] = fold_complex_long};
    return number != CCO_NUMBERS ? folds[number] : NULL;
}

cco_fold cco_fold_of(MPI_Op op, MPI_Datatype type)
{
    return op == MPI_SUM ? cco_fold_of_number(cco_exact_number_of(type)) : NULL;
}
