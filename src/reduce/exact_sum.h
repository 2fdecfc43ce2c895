/* SPDX-License-Identifier: BSD-3-Clause */
/* exact_sum.h - exact sums of floating-point numbers, rounded once.
 *
 * A sum is kept as one integer that has a bit for every power of two of the type: 68 digits to the
 * base 2^32 for double, 1032 for the long double of x86.  A digit is an int64_t, so that carries
 * wait: each number adds less than 2^32 to three digits.  After 2^30 numbers, and before rounding,
 * the carries are moved.  So a sum is exact whatever the order, and the result is the sum rounded
 * to nearest, ties to even, as if all were one addition of IEEE 754.
 *
 * The method is the long accumulator of U. Kulisch (Computer Arithmetic and Validity, 2nd ed.,
 * 2013), with digits that overlap after R. M. Neal: Fast exact summation using small and large
 * superaccumulators, arXiv:1505.05571 (2015).
 *
 * Infinities and NaNs as in a sum of IEEE 754: a NaN, or infinities of both signs, make a NaN
 * (always the same one: quiet, positive, without payload); an infinity else makes that infinity.
 * A sum is minus zero if all of its numbers are, and there is one; otherwise a zero is plus zero.
 *
 * Integers only: neither the rounding mode nor flags of the processor tell, nor do they change. */
#ifndef CCO_EXACT_SUM_H
#define CCO_EXACT_SUM_H

#include <float.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    CCO_EXACT_DIGITS = 68,        /* of a sum of doubles, or of floats */
    CCO_EXACT_LONG_DIGITS = 1032, /* of a sum of the 80-bit long doubles */
    CCO_EXACT_FLAGS = 4,          /* words besides the digits, below */
    CCO_EXACT_CARRY_AFTER = 1 << 30
};

/* Whether there are exact sums of long doubles: where they have 64 bits, or are doubles. */
#if LDBL_MANT_DIG == 64
#define CCO_EXACT_LONG 1
#elif LDBL_MANT_DIG == DBL_MANT_DIG
#define CCO_EXACT_LONG 2
#else
#define CCO_EXACT_LONG 0
#endif

/* Bytes of such a long double that are not gaps. */
enum { CCO_EXACT_LONG_BYTES = CCO_EXACT_LONG == 1 ? 10 : sizeof(long double) };

/* What happened besides additions of finite numbers: counts. */
typedef enum cco_exact_flag {
    CCO_EXACT_NANS,
    CCO_EXACT_PLUS_INFINITIES,
    CCO_EXACT_MINUS_INFINITIES,
    CCO_EXACT_NOT_MINUS_ZERO /* finite numbers other than -0 */
} cco_exact_flag;

typedef struct cco_exact {
    int64_t *digits;      /* the lowest first: digit k counts 2^(32k - bias) */
    int count;            /* of digits */
    int bias;             /* the lowest bit is 2^-bias */
    int low, high;        /* those that are not 0 lie from low to high - 1 */
    uint32_t waiting;     /* numbers added since the carries were moved */
    uint64_t minus_zeros; /* whether there were any: no flag, since it matters only alone */
    int64_t flags[CCO_EXACT_FLAGS];
} cco_exact;

/* An empty sum of floats and doubles, or of long doubles, in memory of the caller. */
void cco_exact_start(cco_exact *sum, int64_t digits[CCO_EXACT_DIGITS]);
#if CCO_EXACT_LONG == 1
void cco_exact_start_long(cco_exact *sum, int64_t digits[CCO_EXACT_LONG_DIGITS]);
#endif

/* Starts again in the memory of a sum that was started: only what is not 0 is cleared. */
void cco_exact_again(cco_exact *sum);

/* Adds a number. */
void cco_exact_add(cco_exact *sum, double x);
#if CCO_EXACT_LONG == 1
void cco_exact_add_long(cco_exact *sum, long double x);
#endif

/* Adds, or subtracts, m 2^(place - bias), m below 2^64; as one number of what is `waiting`. */
void cco_exact_add_bits(cco_exact *sum, bool minus, uint64_t m, int place);

/* Moves the carries: digits are 0 to 2^32 - 1 then, but for the highest. */
void cco_exact_carry(cco_exact *sum);

/* A sum as words that may be added to those of other sums, of up to 2^30 of them, word by word, as
 * integers of 64 bits; and the sum that such words are. */
enum { CCO_EXACT_MORE_WORDS = CCO_EXACT_FLAGS + 1 };
void cco_exact_pack(cco_exact *sum, int64_t *words); /* count + CCO_EXACT_MORE_WORDS */
void cco_exact_unpack(cco_exact *sum, const int64_t *words);

/* The sum, rounded once. */
float cco_exact_float(cco_exact *sum);
double cco_exact_double(cco_exact *sum);
#if CCO_EXACT_LONG == 1
long double cco_exact_long(cco_exact *sum);
#endif

#endif
