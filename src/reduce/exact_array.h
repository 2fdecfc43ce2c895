/* SPDX-License-Identifier: BSD-3-Clause */
/* exact_array.h - adds arrays to exact sums, at the price of a few instructions a number.
 *
 * Doubles are first added by sign and exponent, as integers, into 4096 bins, and the bins that were
 * used to the sum at the end: the large superaccumulator of R. M. Neal (see exact_sum.h).  A bin
 * holds 2^11 significands at least. */
#ifndef CCO_EXACT_ARRAY_H
#define CCO_EXACT_ARRAY_H

#include "reduce/exact_sum.h"

/* What the numbers of an array are. */
typedef enum cco_exact_number {
    CCO_EXACT_FLOAT,
    CCO_EXACT_DOUBLE,
    CCO_EXACT_LONG_DOUBLE,
    CCO_EXACT_NONE
} cco_exact_number;

/* Adds `n` numbers that lie `step` numbers apart, at any address: 2 for a part of complex numbers.
 * For sums of long doubles only, and all of them, if the numbers are such. */
void cco_exact_add_array(cco_exact *sum, cco_exact_number number, const void *x, size_t n,
                         size_t step);

/* Bytes of a number. */
size_t cco_exact_size(cco_exact_number number);

/* Starts a sum of such numbers; `digits` has room for CCO_EXACT_LONG_DIGITS if they are long
 * doubles, else for CCO_EXACT_DIGITS. */
void cco_exact_start_number(cco_exact *sum, cco_exact_number number, int64_t *digits);

/* Writes the sum, rounded once, as such a number to any address. */
void cco_exact_put(cco_exact *sum, cco_exact_number number, void *to);

#endif
