/* SPDX-License-Identifier: BSD-3-Clause */
/* loops.h - the operations of the standard as loops: a table for each instruction set that they are
 * compiled for.  They know C only; kernels.h relates them to the types of an MPI. */
#ifndef CCO_LOOPS_H
#define CCO_LOOPS_H

#include <stdbool.h>
#include <stddef.h>

/* to[i] = a[i] op b[i], for `n` elements of a C type; gaps of structs stay as they are.  `to` may
 * be `a` or `b` itself; otherwise it overlaps neither.  Any address will do. */
typedef void (*cco_kernel)(const void *a, const void *b, void *to, size_t n);

typedef enum cco_loop {
    CCO_LOOP_SUM,
    CCO_LOOP_PROD,
    CCO_LOOP_MAX,
    CCO_LOOP_MIN,
    CCO_LOOP_LAND,
    CCO_LOOP_LOR,
    CCO_LOOP_LXOR,
    CCO_LOOP_BAND,
    CCO_LOOP_BOR,
    CCO_LOOP_BXOR,
    CCO_LOOP_MINLOC,
    CCO_LOOP_MAXLOC,
    CCO_LOOPS
} cco_loop;

/* What an element is.  Pairs are structs of a value and an index. */
typedef enum cco_number {
    CCO_I8,
    CCO_I16,
    CCO_I32,
    CCO_I64,
    CCO_U8,
    CCO_U16,
    CCO_U32,
    CCO_U64,
    CCO_R32,
    CCO_R64,
    CCO_LONG_DOUBLE,
    CCO_C32, /* complex: two reals of this width */
    CCO_C64,
    CCO_C_LONG_DOUBLE,
    CCO_SHORT_INT,
    CCO_INT_INT,
    CCO_LONG_INT,
    CCO_FLOAT_INT,
    CCO_DOUBLE_INT,
    CCO_LONG_DOUBLE_INT,
    CCO_FLOAT_FLOAT,
    CCO_DOUBLE_DOUBLE,
    CCO_NUMBERS
} cco_number;

/* A row of CCO_LOOPS kernels for each number; NULL where C has no such operation. */
typedef const cco_kernel *cco_loops[CCO_NUMBERS];

extern const cco_loops cco_loops_baseline, cco_loops_avx2, cco_loops_avx512;

/* Operands of equal length: at their own addresses, or the first and how far apart they are. */
typedef struct cco_operands {
    const char *const *list; /* NULL: */
    const char *first;
    ptrdiff_t step; /* bytes */
} cco_operands;

static inline const char *cco_operand(const cco_operands *parts, int k)
{
    return parts->list != NULL ? parts->list[k] : parts->first + k * parts->step;
}

/* to[i] = the sum of element i of all `count` parts, from `at` bytes into each, rounded once; or
 * doubts[i] is not 0, and to[i] anything.  `n` is at most CCO_QUICK; doubts are integers as wide as
 * an element, written if there are any: true then.  The processor must round to nearest, and keep
 * subnormal numbers. */
enum { CCO_QUICK = 256 };
typedef bool (*cco_quick_sum)(const cco_operands *parts, int count, size_t at, void *to,
                              void *doubts, size_t n);
typedef struct cco_quick_sums {
    cco_quick_sum r32, r64;
} cco_quick_sums;

extern const cco_quick_sums cco_quick_baseline, cco_quick_avx2, cco_quick_avx512;

#endif
