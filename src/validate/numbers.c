/* SPDX-License-Identifier: BSD-3-Clause */
/* numbers.c - see numbers.h. */
#include "validate/numbers.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* A floating type: its unit roundoff, the least normal number, and the largest exponent. */
typedef struct real {
    size_t size;
    long double roundoff, least;
    int exponent;
} real;

/* A pair of doubles (POWER) has no unit roundoff: LDBL_EPSILON is the least number that can be
 * added to 1.  That of its 106 bits is what results of computations keep to. */
#if LDBL_MANT_DIG == 106
#define LONG_ROUNDOFF 0x1p-105L
#else
#define LONG_ROUNDOFF (LDBL_EPSILON / 2)
#endif

static const real floats = {sizeof(float), FLT_EPSILON / 2, FLT_MIN, FLT_MAX_EXP},
                  doubles = {sizeof(double), DBL_EPSILON / 2, DBL_MIN, DBL_MAX_EXP},
                  longs = {sizeof(long double), LONG_ROUNDOFF, LDBL_MIN, LDBL_MAX_EXP};

/* The reals of which a number consists, or its value if it is a pair; NULL if that is an integer.
 */
static const real *real_of(cco_number number)
{
    switch (number) {
    case CCO_R32:
    case CCO_C32:
    case CCO_FLOAT_INT:
    case CCO_FLOAT_FLOAT:
        return &floats;
    case CCO_R64:
    case CCO_C64:
    case CCO_DOUBLE_INT:
    case CCO_DOUBLE_DOUBLE:
        return &doubles;
    case CCO_LONG_DOUBLE:
    case CCO_C_LONG_DOUBLE:
    case CCO_LONG_DOUBLE_INT:
        return &longs;
    default:
        return NULL;
    }
}

static bool is_complex(cco_number number)
{
    return number >= CCO_C32 && number <= CCO_C_LONG_DOUBLE;
}

static long double read_real(const real *type, const void *at, int i)
{
    const char *from = (const char *)at + (size_t)i * type->size;
    float f;
    double d;
    long double l;
    if (type == &floats)
        return memcpy(&f, from, sizeof f), f;
    if (type == &doubles)
        return memcpy(&d, from, sizeof d), d;
    return memcpy(&l, from, sizeof l), l;
}

cco_exactness cco_numbers_exactness(const cco_numbers *n)
{
    if (n->loop == CCO_LOOPS || n->number == CCO_NUMBERS)
        return n->integers ? CCO_EXACT : CCO_UNKNOWN;
    if (real_of(n->number) == NULL)
        return CCO_EXACT;
    if (n->ordered) /* products of complex numbers are written in several ways */
        return n->loop == CCO_LOOP_PROD ? CCO_UNKNOWN : CCO_EXACT;
    return n->loop == CCO_LOOP_MINLOC || n->loop == CCO_LOOP_MAXLOC ? CCO_PAIRS : CCO_BOUNDED;
}

static double weigh_for_sum(long double x)
{
    return isfinite(x) ? (double)fabsl(x) : 0;
}

static double weigh_for_product(long double x)
{
    return isfinite(x) && x != 0 ? fabs(logb((double)x)) + 1 : 0;
}

/* Beyond the range of a double, a long double is given the largest weight there is. */
static double weigh_long(long double x)
{
    if (!isfinite(x) || x == 0)
        return 0;
    int exponent;
    frexpl(x, &exponent);
    return fabs((double)exponent) + 2;
}

static double weight_of(const cco_numbers *n, const real *type, const void *at)
{
    const bool two = is_complex(n->number);
    const long double x = read_real(type, at, 0), y = two ? read_real(type, at, 1) : 0;
    if (n->loop == CCO_LOOP_SUM)
        return weigh_for_sum(x) + weigh_for_sum(y);
    if (n->loop == CCO_LOOP_PROD && type == &longs)
        return weigh_long(two ? hypotl(x, y) : x);
    if (n->loop == CCO_LOOP_PROD)
        return weigh_for_product(two ? hypotl(x, y) : x) + two;
    return isnan(x);
}

void cco_numbers_weigh(const cco_numbers *n, const void *operands, size_t count, double *weights)
{
    const real *type = real_of(n->number);
    for (size_t i = 0; i < count; i++)
        weights[i] = weight_of(n, type, (const char *)operands + i * n->size);
}

/* gamma_n; infinite where it means nothing any more. */
static long double gamma_of(double n, const real *type)
{
    const long double share = (long double)n * type->roundoff;
    return share < 1 ? share / (1 - share) : INFINITY;
}

/* If no order makes numbers overflow, what is not finite is the same in any order. */
static bool are_special(long double a, long double b, cco_judged *judged)
{
    if (isfinite(a) && isfinite(b))
        return false;
    *judged = (isnan(a) && isnan(b)) || a == b ? CCO_SAME : CCO_DIFFER;
    return true;
}

/* One more operand than there are pays for the rounding of the weight. */
static cco_judged judge_sum(const cco_numbers *n, const real *type, long double a, long double b,
                            double weight)
{
    cco_judged judged;
    const bool safe = weight < ldexpl(1, type->exponent - 2);
    if (!safe && (!isfinite(a) || !isfinite(b)))
        return a == b ? CCO_SAME : CCO_UNJUDGED;
    if (are_special(a, b, &judged))
        return judged;
    const long double bound = 2 * gamma_of(n->operands, type) * (long double)weight +
                              (long double)(n->operands - 1) * type->least;
    return a == b || fabsl(a - b) <= (weight == 0 ? 0 : bound) ? CCO_SAME : CCO_DIFFER;
}

static cco_judged judge_product(const cco_numbers *n, const real *type, long double a,
                                long double b, double weight)
{
    cco_judged judged;
    if (weight >= type->exponent - 2)
        return a == b ? CCO_SAME : CCO_UNJUDGED;
    if (are_special(a, b, &judged))
        return judged;
    return fabsl(a - b) <= 2 * gamma_of(n->operands, type) * fabsl(b) ? CCO_SAME : CCO_DIFFER;
}

/* With complex numbers the plain formula may make a NaN of an infinity. */
static cco_judged judge_complex_product(const cco_numbers *n, const real *type, const void *found,
                                        const void *expected, double weight)
{
    const long double a = read_real(type, found, 0), b = read_real(type, found, 1);
    const long double c = read_real(type, expected, 0), d = read_real(type, expected, 1);
    const bool finite = isfinite(a) && isfinite(b) && isfinite(c) && isfinite(d);
    const int most = (type->exponent - 2) / 2;
    if (weight >= most || (!finite && (!isfinite(c) || !isfinite(d))))
        return CCO_UNJUDGED;
    const long double bound = 2 * gamma_of(4.0 * n->operands, type) * hypotl(c, d);
    return finite && hypotl(a - c, b - d) <= bound ? CCO_SAME : CCO_DIFFER;
}

static cco_judged judge_real(const cco_numbers *n, const real *type, long double a, long double b,
                             double weight)
{
    if (n->loop == CCO_LOOP_SUM)
        return judge_sum(n, type, a, b, weight);
    if (n->loop == CCO_LOOP_PROD)
        return judge_product(n, type, a, b, weight);
    return a == b ? CCO_SAME : weight > 0 ? CCO_UNJUDGED : CCO_DIFFER; /* which of several NaN */
}

static cco_judged judge_bounded(const cco_numbers *n, const void *found, const void *expected,
                                double weight)
{
    const real *type = real_of(n->number);
    const bool two = is_complex(n->number);
    if (two && n->loop == CCO_LOOP_PROD)
        return judge_complex_product(n, type, found, expected, weight);
    cco_judged worst = CCO_SAME;
    for (int i = 0; i <= two; i++) {
        const cco_judged part = judge_real(n, type, read_real(type, found, i),
                                           read_real(type, expected, i), weight);
        if (part == CCO_DIFFER || worst == CCO_SAME)
            worst = part;
    }
    return worst;
}

/* Zeros of both signs are equal values; where one is a NaN the order decides. */
static cco_judged judge_pair(const cco_numbers *n, const char *found, const char *expected)
{
    const real *type = real_of(n->number);
    const long double a = read_real(type, found, 0), b = read_real(type, expected, 0);
    if (isnan(a) || isnan(b))
        return CCO_UNJUDGED;
    const size_t at = type->size;
    const bool alike = n->number == CCO_FLOAT_FLOAT || n->number == CCO_DOUBLE_DOUBLE
                           ? read_real(type, found, 1) == read_real(type, expected, 1)
                           : memcmp(found + at, expected + at, n->size - at) == 0;
    return a == b && alike ? CCO_SAME : CCO_DIFFER;
}

cco_judged cco_numbers_judge(const cco_numbers *n, const void *found, const void *expected,
                             double weight)
{
    if (memcmp(found, expected, n->size) == 0)
        return CCO_SAME;
    switch (cco_numbers_exactness(n)) {
    case CCO_BOUNDED: /* without a weight another rank could not make its own */
        return weight < 0 ? CCO_UNJUDGED : judge_bounded(n, found, expected, weight);
    case CCO_PAIRS:
        return judge_pair(n, found, expected);
    case CCO_EXACT:
        return CCO_DIFFER;
    default:
        return CCO_UNJUDGED;
    }
}

static void numbers_show_bytes(const unsigned char *at, size_t n, char *text, size_t room)
{
    size_t used = (size_t)snprintf(text, room, "0x");
    for (size_t i = 0; i < n && used + 6 < room; i++) {
        const bool cut = i + 1 < n && used + 9 >= room;
        used += (size_t)snprintf(text + used, room - used, cut ? "..." : "%02x", at[i]);
        if (cut)
            return;
    }
}

static bool show_integer(cco_number number, const void *at, char *text, size_t room)
{
    int8_t i8;
    int16_t i16;
    int32_t i32;
    int64_t i64;
    uint64_t u = 0;
    switch (number) {
    case CCO_I8:
        return memcpy(&i8, at, 1), snprintf(text, room, "%d", i8) > 0;
    case CCO_I16:
        return memcpy(&i16, at, 2), snprintf(text, room, "%d", i16) > 0;
    case CCO_I32:
        return memcpy(&i32, at, 4), snprintf(text, room, "%d", (int)i32) > 0;
    case CCO_I64:
        return memcpy(&i64, at, 8), snprintf(text, room, "%lld", (long long)i64) > 0;
    case CCO_U8:
    case CCO_U16:
    case CCO_U32:
    case CCO_U64:
        for (size_t i = (size_t)1 << (number - CCO_U8); i-- > 0;)
            u = u << 8 | ((const unsigned char *)at)[i];
        return snprintf(text, room, "%llu", (unsigned long long)u) > 0;
    default:
        return false;
    }
}

void cco_numbers_show(const cco_numbers *n, const void *element, char *text, size_t room)
{
    const real *type = real_of(n->number);
    const int digits = type == &floats ? 9 : type == &doubles ? 17 : 21;
    if (show_integer(n->number, element, text, room))
        return;
    if (type == NULL)
        numbers_show_bytes(element, n->size, text, room);
    else if (is_complex(n->number))
        snprintf(text, room, "(%.*Lg, %.*Lg)", digits, read_real(type, element, 0), digits,
                 read_real(type, element, 1));
    else
        snprintf(text, room, "%.*Lg", digits, read_real(type, element, 0));
}
