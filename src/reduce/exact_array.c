/* SPDX-License-Identifier: BSD-3-Clause */
/* exact_array.c - see exact_array.h. */
#include "reduce/exact_array.h"

#include <stdlib.h>
#include <string.h>

enum {
    BINS = 4096,        /* of sign and exponent */
    FULL = 4096,        /* fractions below 2^52 that a bin holds */
    FEW = 256,          /* numbers that are not worth bins */
    CHUNK = 512,        /* numbers that are made doubles at once */
    MINUS = BINS / 2,   /* the first bin of negative numbers, */
    SPECIAL = MINUS - 1 /* and that of infinities and NaNs, from there or from 0 */
};
#define FRACTION (((uint64_t)1 << 52) - 1)

typedef double __attribute__((may_alias, aligned(1))) r64;
typedef float __attribute__((may_alias, aligned(1))) r32;
typedef uint64_t __attribute__((may_alias, aligned(1))) u64;

typedef struct bins {
    uint64_t fractions[BINS];
    uint16_t numbers[BINS];
} bins;

/* A bin of infinities and NaNs: these have fractions above 0. */
static void empty_special(cco_exact *sum, bool minus, uint64_t fractions)
{
    sum->flags[fractions != 0 ? CCO_EXACT_NANS
               : minus        ? CCO_EXACT_MINUS_INFINITIES
                              : CCO_EXACT_PLUS_INFINITIES]++;
}

/* What lies in a bin goes to the sum, in two parts, since it may have 65 bits. */
static void empty_bin(bins *b, cco_exact *sum, size_t i)
{
    const bool minus = i >= MINUS;
    const int exponent = (int)(i % MINUS), place = exponent > 0 ? exponent - 1 : 0;
    const uint64_t fractions = b->fractions[i], numbers = b->numbers[i];
    b->fractions[i] = 0;
    b->numbers[i] = 0;
    if (exponent == SPECIAL) {
        empty_special(sum, minus, fractions);
        return;
    }
    if (fractions != 0)
        cco_exact_add_bits(sum, minus, fractions, place);
    if (exponent > 0) /* the highest bit of each, which is not written */
        cco_exact_add_bits(sum, minus, numbers, place + 52);
    if (i == MINUS && fractions == 0)
        sum->minus_zeros = 1;
    else
        sum->flags[CCO_EXACT_NOT_MINUS_ZERO] = 1;
}

#if defined(__SIZEOF_INT128__)
__extension__ typedef unsigned __int128 wide;

/* What the bins of one sign come to whose lowest bits lie in one digit. */
typedef struct digits {
    wide value;
    int first;
    bool minus;
} digits;

static void add_wide(cco_exact *sum, digits *d)
{
    enum { BITS = 32 };
    if (d->value == 0)
        return;
    cco_exact_add_bits(sum, d->minus, (uint64_t)d->value, d->first * BITS);
    cco_exact_add_bits(sum, d->minus, (uint64_t)(d->value >> 2 * BITS), (d->first + 2) * BITS);
    d->value = 0;
}

/* Empties one bin of both sets: neighbors are added up before they go to the sum. */
static void empty_two(bins b[2], cco_exact *sum, size_t i, digits *d)
{
    const bool minus = i >= MINUS;
    const int exponent = (int)(i % MINUS), place = exponent > 0 ? exponent - 1 : 0;
    const uint64_t numbers = (uint64_t)b[0].numbers[i] + b[1].numbers[i];
    if (exponent == SPECIAL || exponent == 0) {
        for (int k = 0; k < 2; k++)
            if (b[k].numbers[i] > 0)
                empty_bin(&b[k], sum, i);
        return;
    }
    if (d->first != place / 32 || d->minus != minus) {
        add_wide(sum, d);
        d->first = place / 32;
        d->minus = minus;
    }
    d->value += ((wide)b[0].fractions[i] + b[1].fractions[i] + ((wide)numbers << 52)) << place % 32;
    sum->flags[CCO_EXACT_NOT_MINUS_ZERO] = 1;
}
#else
typedef int digits;

static void add_wide(cco_exact *sum, digits *d)
{
    (void)sum, (void)d;
}

static void empty_two(bins b[2], cco_exact *sum, size_t i, digits *d)
{
    (void)d;
    for (int k = 0; k < 2; k++)
        if (b[k].numbers[i] > 0)
            empty_bin(&b[k], sum, i);
}
#endif

/* Most bins are empty: four are looked at at once. */
static void empty_bins(bins b[2], cco_exact *sum)
{
    enum { SOME = sizeof(uint64_t) / sizeof b->numbers[0] };
    digits d = {0};
    for (size_t first = 0; first < BINS; first += SOME) {
        uint64_t one, other;
        memcpy(&one, &b[0].numbers[first], sizeof one);
        memcpy(&other, &b[1].numbers[first], sizeof other);
        for (size_t i = first; (one | other) != 0 && i < first + SOME; i++)
            if (b[0].numbers[i] > 0 || b[1].numbers[i] > 0)
                empty_two(b, sum, i, &d);
    }
    add_wide(sum, &d);
}

static inline void add_bits(bins *b, cco_exact *sum, uint64_t bits)
{
    const size_t i = bits >> 52;
    b->fractions[i] += bits & FRACTION;
    if (++b->numbers[i] == FULL)
        empty_bin(b, sum, i);
}

/* To two sets of bins in turn: numbers of one exponent wait for each other's store. */
static void add_to_bins(bins b[2], cco_exact *sum, const u64 *bits, size_t n)
{
    size_t i = 0;
    for (; i + 1 < n; i += 2) {
        add_bits(&b[0], sum, bits[i]);
        add_bits(&b[1], sum, bits[i + 1]);
    }
    if (i < n)
        add_bits(&b[0], sum, bits[i]);
}

/* Some numbers, at most CHUNK, as doubles, without a rounding. */
static void as_doubles(double *to, cco_exact_number number, const char *x, size_t n, size_t step)
{
    if (number == CCO_EXACT_FLOAT)
        for (size_t i = 0; i < n; i++)
            to[i] = ((const r32 *)x)[i * step];
    else
        for (size_t i = 0; i < n; i++)
            to[i] = ((const r64 *)x)[i * step];
}

static void add_chunk(bins *b, cco_exact *sum, const double *x, size_t n)
{
    if (b != NULL)
        add_to_bins(b, sum, (const u64 *)x, n);
    for (size_t i = 0; i < n && b == NULL; i++)
        cco_exact_add(sum, x[i]);
}

#if CCO_EXACT_LONG == 1
static void add_longs(cco_exact *sum, const char *x, size_t n, size_t step)
{
    long double number;
    for (size_t i = 0; i < n; i++) {
        memcpy(&number, x + i * step * sizeof number, sizeof number);
        cco_exact_add_long(sum, number);
    }
}
#endif

size_t cco_exact_size(cco_exact_number number)
{
    return number == CCO_EXACT_FLOAT    ? sizeof(float)
           : number == CCO_EXACT_DOUBLE ? sizeof(double)
                                        : sizeof(long double);
}

void cco_exact_start_number(cco_exact *sum, cco_exact_number number, int64_t *digits)
{
#if CCO_EXACT_LONG == 1
    if (number == CCO_EXACT_LONG_DOUBLE) {
        cco_exact_start_long(sum, digits);
        return;
    }
#endif
    (void)number;
    cco_exact_start(sum, digits);
}

void cco_exact_add_array(cco_exact *sum, cco_exact_number number, const void *x, size_t n,
                         size_t step)
{
    const char *at = x;
    const size_t stride = cco_exact_size(number) * step;
#if CCO_EXACT_LONG == 1
    if (number == CCO_EXACT_LONG_DOUBLE) {
        add_longs(sum, at, n, step);
        return;
    }
#endif
    bins *b = n > FEW ? calloc(2, sizeof *b) : NULL; /* without memory it only takes longer */
    if (b != NULL && number != CCO_EXACT_FLOAT && step == 1) {
        add_to_bins(b, sum, x, n);
        n = 0;
    }
    double chunk[CHUNK];
    for (size_t part; n > 0; n -= part, at += part * stride) {
        part = n < CHUNK ? n : CHUNK;
        as_doubles(chunk, number, at, part, step);
        add_chunk(b, sum, chunk, part);
    }
    if (b != NULL)
        empty_bins(b, sum);
    free(b);
}

void cco_exact_put(cco_exact *sum, cco_exact_number number, void *to)
{
    if (number == CCO_EXACT_FLOAT) {
        const float x = cco_exact_float(sum);
        memcpy(to, &x, sizeof x);
#if CCO_EXACT_LONG == 1
    } else if (number == CCO_EXACT_LONG_DOUBLE) {
        const long double x = cco_exact_long(sum);
        memcpy(to, &x, CCO_EXACT_LONG_BYTES);
#endif
    } else {
        const double x = cco_exact_double(sum);
        memcpy(to, &x, sizeof x);
    }
}
