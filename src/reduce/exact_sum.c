/* SPDX-License-Identifier: BSD-3-Clause */
/* exact_sum.c - see exact_sum.h. */
#include "reduce/exact_sum.h"

#include <string.h>

enum { BITS = 32, BIAS = 1074, LONG_BIAS = 16445 };
static const int64_t LOW_BITS = 0xffffffff;

/* How numbers of a type are made of bits. */
typedef struct format {
    int digits;    /* of the significand */
    int lowest;    /* the least number above 0 is 2^-lowest */
    int exponents; /* the exponent field of infinity */
} format;

static const format format_float = {24, 149, 255};
static const format format_double = {53, 1074, 2047};

static void exact_sum_start(cco_exact *sum, int64_t *digits, int count, int bias)
{
    *sum = (cco_exact){.digits = digits, .count = count, .bias = bias, .low = count};
    memset(digits, 0, (size_t)count * sizeof *digits);
}

void cco_exact_start(cco_exact *sum, int64_t digits[CCO_EXACT_DIGITS])
{
    exact_sum_start(sum, digits, CCO_EXACT_DIGITS, BIAS);
}

void cco_exact_again(cco_exact *sum)
{
    if (sum->low < sum->high)
        memset(sum->digits + sum->low, 0, (size_t)(sum->high - sum->low) * sizeof *sum->digits);
    *sum = (cco_exact){
        .digits = sum->digits, .count = sum->count, .bias = sum->bias, .low = sum->count};
}

#if CCO_EXACT_LONG == 1
void cco_exact_start_long(cco_exact *sum, int64_t digits[CCO_EXACT_LONG_DIGITS])
{
    exact_sum_start(sum, digits, CCO_EXACT_LONG_DIGITS, LONG_BIAS);
}
#endif

/* The highest digit keeps its sign.  It takes what no digit above has to. */
void cco_exact_carry(cco_exact *sum)
{
    int64_t carry = 0;
    for (int k = sum->low; k < sum->high; k++) {
        const int64_t digit = sum->digits[k] + carry;
        const bool fits = digit > -LOW_BITS && digit < LOW_BITS;
        if (k == sum->high - 1 && (fits || k == sum->count - 1)) {
            sum->digits[k] = digit;
            carry = 0;
        } else {
            sum->digits[k] = digit & LOW_BITS;
            carry = digit >> BITS; /* rounded down */
        }
    }
    if (carry != 0)
        sum->digits[sum->high++] = carry;
    sum->waiting = 1;
}

static inline void add_digits(cco_exact *sum, bool minus, uint64_t m, int place)
{
    const int k = place / BITS, shift = place % BITS;
    const uint64_t low = m << shift, high = shift > 0 ? m >> (2 * BITS - shift) : 0;
    const int64_t sign = -(int64_t)minus; /* 0, or all bits: x ^ sign - sign is x, or -x */
    int64_t *digits = sum->digits + k;
    digits[0] += ((int64_t)(low & (uint64_t)LOW_BITS) ^ sign) - sign;
    digits[1] += ((int64_t)(low >> BITS) ^ sign) - sign;
    digits[2] += ((int64_t)high ^ sign) - sign;
    sum->low = k < sum->low ? k : sum->low;
    sum->high = k + 3 > sum->high ? k + 3 : sum->high;
}

void cco_exact_add_bits(cco_exact *sum, bool minus, uint64_t m, int place)
{
    if (sum->waiting >= CCO_EXACT_CARRY_AFTER)
        cco_exact_carry(sum);
    sum->waiting++;
    add_digits(sum, minus, m, place);
}

static void add_special(cco_exact *sum, bool minus, bool nan)
{
    sum->flags[nan     ? CCO_EXACT_NANS
               : minus ? CCO_EXACT_MINUS_INFINITIES
                       : CCO_EXACT_PLUS_INFINITIES]++;
}

/* Finite: its bits, and whether it is -0. */
static void add_finite(cco_exact *sum, bool minus, uint64_t m, int place)
{
    if (m != 0)
        cco_exact_add_bits(sum, minus, m, place);
    if (m != 0 || !minus)
        sum->flags[CCO_EXACT_NOT_MINUS_ZERO] = 1;
    else
        sum->minus_zeros = 1;
}

void cco_exact_add(cco_exact *sum, double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    const bool minus = bits >> 63;
    const int exponent = (int)(bits >> 52 & 2047);
    const uint64_t fraction = bits & (((uint64_t)1 << 52) - 1);
    if (exponent == 2047)
        add_special(sum, minus, fraction != 0);
    else
        add_finite(sum, minus, fraction | (uint64_t)(exponent > 0) << 52,
                   exponent > 0 ? exponent - 1 : 0);
}

#if CCO_EXACT_LONG == 1
void cco_exact_add_long(cco_exact *sum, long double x)
{
    uint64_t m;
    uint16_t top;
    memcpy(&m, &x, sizeof m);
    memcpy(&top, (const char *)&x + sizeof m, sizeof top);
    const bool minus = top >> 15;
    const int exponent = top & 32767;
    if (exponent == 32767)
        add_special(sum, minus, m << 1 != 0);
    else if (exponent > 0 && m >> 63 == 0) /* no number to the processor: it makes a NaN of it */
        add_special(sum, minus, true);
    else
        add_finite(sum, minus, m, exponent > 0 ? exponent - 1 : 0);
}
#endif

void cco_exact_pack(cco_exact *sum, int64_t *words)
{
    cco_exact_carry(sum);
    memcpy(words, sum->digits, (size_t)sum->count * sizeof *words);
    words += sum->count;
    memcpy(words, sum->flags, sizeof sum->flags);
    words[CCO_EXACT_FLAGS] = (int64_t)sum->minus_zeros;
}

void cco_exact_unpack(cco_exact *sum, const int64_t *words)
{
    memcpy(sum->digits, words, (size_t)sum->count * sizeof *words);
    words += sum->count;
    memcpy(sum->flags, words, sizeof sum->flags);
    sum->minus_zeros = (uint64_t)words[CCO_EXACT_FLAGS];
    sum->low = 0;
    sum->high = sum->count;
    cco_exact_carry(sum);
}

static void exact_sum_negate(cco_exact *sum)
{
    for (int k = sum->low; k < sum->high; k++)
        sum->digits[k] = -sum->digits[k];
    cco_exact_carry(sum);
}

/* The highest digit is not 0, and of the sum. */
static void exact_sum_trim(cco_exact *sum)
{
    cco_exact_carry(sum);
    while (sum->high > sum->low && sum->digits[sum->high - 1] == 0)
        sum->high--;
}

static uint64_t digit_at(const cco_exact *sum, int k)
{
    return k >= sum->low && k < sum->high ? (uint64_t)sum->digits[k] : 0;
}

/* 64 bits from one on; the sum is not negative, and its carries are moved. */
static uint64_t bits_from(const cco_exact *sum, int place)
{
    const int k = place / BITS, shift = place % BITS;
    const uint64_t low = digit_at(sum, k) | digit_at(sum, k + 1) << BITS;
    return shift == 0 ? low : low >> shift | digit_at(sum, k + 2) << (2 * BITS - shift);
}

static bool any_below(const cco_exact *sum, int place)
{
    const int k = place / BITS;
    bool any = (digit_at(sum, k) & (((uint64_t)1 << place % BITS) - 1)) != 0;
    for (int i = sum->low; i < k && !any; i++)
        any = sum->digits[i] != 0;
    return any;
}

static int highest_bit(const cco_exact *sum)
{
    return (sum->high - 1) * BITS + 63 - __builtin_clzll((uint64_t)sum->digits[sum->high - 1]);
}

/* A positive sum to the digits of a format: what its exponent field and fraction are together, and
 * for the 80-bit format, whose highest bit is written, the significand besides. */
static uint64_t exact_sum_rounded(const cco_exact *sum, const format *f, uint64_t *significand)
{
    const int least = sum->bias - f->lowest, first = highest_bit(sum) - f->digits + 1;
    int place = first > least ? first : least; /* of the last bit of the result */
    uint64_t m = bits_from(sum, place);
    if (f->digits < 64)
        m &= ((uint64_t)1 << f->digits) - 1;
    const bool half = place > 0 && bits_from(sum, place - 1) & 1;
    const bool up = half && (m & 1 || any_below(sum, place - 1));
    m += up;
    if (up && (f->digits < 64 ? m >> f->digits != 0 : m == 0)) {
        m = (uint64_t)1 << (f->digits - 1);
        place++;
    }
    const uint64_t top = m >> (f->digits - 1); /* 0 of a subnormal number */
    const uint64_t exponent = (uint64_t)(place - least) + top;
    *significand = m;
    if (exponent >= (uint64_t)f->exponents)
        *significand = m = (uint64_t)1 << (f->digits - 1); /* infinity */
    const uint64_t field = exponent < (uint64_t)f->exponents ? exponent : (uint64_t)f->exponents;
    return f->digits < 64 ? field << (f->digits - 1) | (m & (((uint64_t)1 << (f->digits - 1)) - 1))
                          : field;
}

typedef struct result {
    bool minus, nan, infinite;
    uint64_t bits, significand;
} result;

static result round_finite(cco_exact *sum, const format *f)
{
    result r = {0};
    exact_sum_trim(sum);
    if (sum->high <= sum->low) {
        r.minus = sum->minus_zeros && sum->flags[CCO_EXACT_NOT_MINUS_ZERO] == 0;
        return r;
    }
    r.minus = sum->digits[sum->high - 1] < 0;
    if (r.minus) {
        exact_sum_negate(sum);
        exact_sum_trim(sum);
    }
    r.bits = exact_sum_rounded(sum, f, &r.significand);
    if (r.minus)
        exact_sum_negate(sum);
    return r;
}

static result round_sum(cco_exact *sum, const format *f)
{
    const bool plus = sum->flags[CCO_EXACT_PLUS_INFINITIES] > 0;
    const bool minus = sum->flags[CCO_EXACT_MINUS_INFINITIES] > 0;
    if (sum->flags[CCO_EXACT_NANS] > 0 || (plus && minus))
        return (result){.nan = true};
    if (plus || minus)
        return (result){.minus = minus, .infinite = true};
    return round_finite(sum, f);
}

/* All of a number but its sign, for formats that do not write the highest bit. */
static uint64_t bits_of(const result *r, const format *f)
{
    const uint64_t infinity = (uint64_t)f->exponents << (f->digits - 1);
    if (r->nan)
        return infinity | (uint64_t)1 << (f->digits - 2);
    return r->infinite ? infinity : r->bits;
}

float cco_exact_float(cco_exact *sum)
{
    const result r = round_sum(sum, &format_float);
    const uint32_t bits = (uint32_t)bits_of(&r, &format_float) | (uint32_t)r.minus << 31;
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

double cco_exact_double(cco_exact *sum)
{
    const result r = round_sum(sum, &format_double);
    const uint64_t bits = bits_of(&r, &format_double) | (uint64_t)r.minus << 63;
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

#if CCO_EXACT_LONG == 1
long double cco_exact_long(cco_exact *sum)
{
    static const format f = {64, LONG_BIAS, 32767};
    const result r = round_sum(sum, &f);
    const bool special = r.nan || r.infinite;
    const uint64_t m = r.nan ? (uint64_t)3 << 62 : r.infinite ? (uint64_t)1 << 63 : r.significand;
    const uint64_t exponent = special ? 32767 : r.bits;
    const uint16_t top = (uint16_t)(exponent | (uint64_t)r.minus << 15);
    long double x = 0;
    memcpy(&x, &m, sizeof m);
    memcpy((char *)&x + sizeof m, &top, sizeof top);
    return x;
}
#endif
