/* SPDX-License-Identifier: BSD-3-Clause */
/* test_exact_sum.c - exact sums: what their rounding, carries, infinities and signs come to,
 * whatever the order.  With the argument "-", sums what comes on standard input, a line each, for
 * tests/python/test_exact_sum.py, which compares with rational numbers:
 *
 *     HOW TYPE BITS BITS ...    HOW: add, array, words, fold; TYPE: float, double, long
 *
 * and writes the bits of the sum, in hexadecimal as they came.  Needs no running MPI. */
#include "reduce/exact_array.h"
#include "reduce/exact_fold.h"

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif
#include <fenv.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "testing/testing.h"

enum { MOST = 4096, LINE = 1 << 18, SPLIT = 3 };

/* A number of a line, in memory. */
typedef union number {
    float r32;
    double r64;
    long double r80;
    unsigned char bytes[sizeof(long double)];
} number;

static size_t bytes_of(cco_exact_number type)
{
    return type == CCO_EXACT_FLOAT ? 4 : type == CCO_EXACT_DOUBLE ? 8 : 10;
}

/* Hexadecimal, the highest byte first. */
static void read_bits(const char *word, size_t n, unsigned char *to)
{
    for (size_t i = 0; i < n; i++) {
        const char two[] = {word[2 * i], word[2 * i + 1], '\0'};
        to[n - 1 - i] = (unsigned char)strtoul(two, NULL, 16);
    }
}

static void write_bits(const unsigned char *from, size_t n)
{
    for (size_t i = n; i > 0; i--)
        printf("%02x", from[i - 1]);
    printf("\n");
}

static cco_exact_number type_named(const char *name)
{
    return name[0] == 'f'   ? CCO_EXACT_FLOAT
           : name[0] == 'd' ? CCO_EXACT_DOUBLE
                            : CCO_EXACT_LONG_DOUBLE;
}

static void add_each(cco_exact *sum, cco_exact_number type, const unsigned char *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        cco_exact_add_array(sum, type, x + i * cco_exact_size(type), 1, 1);
}

/* As if on three ranks: the words of their sums are added. */
static void add_words(cco_exact *sum, cco_exact_number type, const unsigned char *x, size_t n)
{
    static int64_t digits[CCO_EXACT_LONG_DIGITS], all[CCO_EXACT_LONG_DIGITS + CCO_EXACT_MORE_WORDS],
        words[CCO_EXACT_LONG_DIGITS + CCO_EXACT_MORE_WORDS];
    memset(all, 0, sizeof all);
    for (size_t part = 0; part < SPLIT; part++) {
        const size_t first = n * part / SPLIT, end = n * (part + 1) / SPLIT;
        cco_exact one;
        cco_exact_start_number(&one, type, digits);
        add_each(&one, type, x + first * cco_exact_size(type), end - first);
        cco_exact_pack(&one, words);
        for (int k = 0; k < one.count + CCO_EXACT_MORE_WORDS; k++)
            all[k] += words[k];
    }
    cco_exact_unpack(sum, all);
}

static cco_fold fold_of(cco_exact_number type)
{
    return cco_fold_of_number(type == CCO_EXACT_FLOAT    ? CCO_R32
                              : type == CCO_EXACT_DOUBLE ? CCO_R64
                                                         : CCO_LONG_DOUBLE);
}

/* Parts that lie `step` bytes apart. */
static void fold_in_turn(cco_exact_number type, const void *x, size_t step, int count, void *to,
                         size_t n)
{
    const cco_operands parts = {.first = x, .step = (ptrdiff_t)step};
    fold_of(type)(&parts, count, to, n);
}

static void sum_line(const char *how, cco_exact_number type, const unsigned char *x, size_t n,
                     number *result)
{
    static int64_t digits[CCO_EXACT_LONG_DIGITS];
    cco_exact sum;
    cco_exact_start_number(&sum, type, digits);
    if (strcmp(how, "fold") == 0) {
        fold_in_turn(type, x, cco_exact_size(type), (int)n, result, 1);
        return;
    }
    if (strcmp(how, "array") == 0)
        cco_exact_add_array(&sum, type, x, n, 1);
    else if (strcmp(how, "words") == 0)
        add_words(&sum, type, x, n);
    else
        add_each(&sum, type, x, n);
    cco_exact_put(&sum, type, result);
}

static int sum_lines(void)
{
    static char line[LINE];
    static unsigned char x[MOST * sizeof(long double)];
    while (fgets(line, sizeof line, stdin) != NULL) {
        char *rest = line, *how = strtok_r(rest, " \n", &rest);
        const cco_exact_number type = type_named(strtok_r(rest, " \n", &rest));
        number result = {0};
        size_t n = 0;
        for (char *word; n < MOST && (word = strtok_r(rest, " \n", &rest)) != NULL; n++)
            read_bits(word, bytes_of(type), x + n * cco_exact_size(type));
        sum_line(how, type, x, n, &result);
        write_bits(result.bytes, bytes_of(type));
    }
    return 0;
}

static double sum_of(const double *x, size_t n)
{
    int64_t digits[CCO_EXACT_DIGITS];
    cco_exact sum;
    cco_exact_start(&sum, digits);
    cco_exact_add_array(&sum, CCO_EXACT_DOUBLE, x, n, 1);
    return cco_exact_double(&sum);
}

static bool same(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

#define CHECK_SUM(expected, ...)                                                                   \
    CHECK(same(sum_of((double[]){__VA_ARGS__}, sizeof((double[]){__VA_ARGS__}) / sizeof(double)),  \
               expected),                                                                          \
          "the sum of " #__VA_ARGS__)

static void special_numbers(void)
{
    const double most = 0x1.fffffffffffffp1023, least = 0x1p-1074;
    CHECK(same(sum_of(NULL, 0), 0.0), "no numbers");
    CHECK_SUM(0.0, 0.0);
    CHECK_SUM(-0.0, -0.0);
    CHECK_SUM(-0.0, -0.0, -0.0);
    CHECK_SUM(0.0, -0.0, 0.0);
    CHECK_SUM(0.0, 1.0, -0.0, -1.0);
    CHECK_SUM(INFINITY, 1.0, INFINITY, INFINITY, -most);
    CHECK_SUM(-INFINITY, 1.0, -INFINITY);
    CHECK(isnan(sum_of((double[]){INFINITY, 1, -INFINITY}, 3)), "both infinities");
    CHECK_SUM(sum_of((double[]){INFINITY, -INFINITY}, 2), 3.0, -NAN, INFINITY);
    CHECK_SUM(sum_of((double[]){INFINITY, -INFINITY}, 2), NAN);
    CHECK_SUM(most, most, most, -most); /* overflow in between */
    CHECK_SUM(INFINITY, most, most);
    CHECK_SUM(most, most, 0x1p969); /* less than half of the last digit */
    CHECK_SUM(INFINITY, most, 0x1p970);
    CHECK_SUM(least, 0x1p-1022, least, -0x1p-1022);
    CHECK_SUM(1.0, 1.0, 0x1p-53);
    CHECK_SUM(0x1.0000000000001p0, 1.0, 0x1p-53, least);
    CHECK_SUM(1.0, 1.0, 0x1p-53, -least);
    CHECK_SUM(0x1.0000000000002p0, 0x1.0000000000001p0, 0x1p-53);
}

/* One digit gets as much as it can hold, and more than once. */
static void carries(void)
{
    enum { FIRST = 32, MORE = 1000 };
    int64_t digits[CCO_EXACT_DIGITS];
    cco_exact sum;
    for (int minus = 0; minus < 2; minus++) {
        cco_exact_start(&sum, digits);
        cco_exact_add_bits(&sum, minus, UINT64_MAX, 32 * FIRST);
        CHECK(sum.waiting == 1, "%u numbers wait for carries", sum.waiting);
        digits[FIRST] *= CCO_EXACT_CARRY_AFTER; /* as if added so often */
        digits[FIRST + 1] *= CCO_EXACT_CARRY_AFTER;
        sum.waiting = CCO_EXACT_CARRY_AFTER;
        for (int i = 0; i < MORE; i++)
            cco_exact_add_bits(&sum, minus, UINT64_MAX, 32 * FIRST);
        CHECK(sum.waiting == MORE + 1, "%u numbers wait for carries", sum.waiting);
        CHECK(same(cco_exact_double(&sum), (minus ? -1 : 1) * (0x1p30 + MORE) * 0x1p14),
              "2^30 numbers and more");
    }
    cco_exact_again(&sum);
    CHECK(same(cco_exact_double(&sum), 0.0), "again");
    for (int i = 0; i < 3; i++)
        cco_exact_add_bits(&sum, true, UINT64_MAX, 1074);
    CHECK(same(cco_exact_double(&sum), -3.0 * 0x1p64), "whole digits");
}

/* A sum goes on after it was rounded. */
static void goes_on(void)
{
    int64_t digits[CCO_EXACT_DIGITS];
    cco_exact sum;
    cco_exact_start(&sum, digits);
    cco_exact_add(&sum, -3);
    CHECK(same(cco_exact_double(&sum), -3.0), "-3");
    cco_exact_add(&sum, 0x1p-60);
    cco_exact_add(&sum, 3);
    CHECK(same(cco_exact_double(&sum), 0x1p-60), "what is left of 3");
    CHECK(cco_exact_float(&sum) == 0x1p-60f, "the same as a float");
}

/* Whatever the program has done to its processor; nor does the program see anything of us. */
static void environments(void)
{
    static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    const double x[] = {0x1p1023, 1, 0x1p1023, 0x1p-54, -0x1p1023, -0x1p1023, 0x1p-1074, -1};
    for (int i = 0; i < LEN(modes); i++) {
        double sum = 0;
        fesetround(modes[i]);
        feclearexcept(FE_ALL_EXCEPT);
        fold_in_turn(CCO_EXACT_DOUBLE, x, sizeof *x, LEN(x), &sum, 1);
        CHECK(fetestexcept(FE_ALL_EXCEPT) == 0, "rounding mode %d: a flag was raised", i);
        CHECK(fegetround() == modes[i], "rounding mode %d was changed", i);
        CHECK(same(sum, 0x1p-54), "rounding mode %d: a fold", i);
        CHECK(same(sum_of(x, LEN(x)), 0x1p-54), "rounding mode %d: a sum", i);
    }
    fesetround(FE_TONEAREST);
}

#if defined(__SSE2__)
/* As programs run that were compiled with -Ofast. */
static void flushed_to_zero(void)
{
    enum { FLUSH_AND_NO_SUBNORMALS = 0x8040 };
    const unsigned before = _mm_getcsr();
    const double x[] = {0x1p-1022, -0x1.8p-1022, 0x1p-1074};
    double fold = 0, sum;
    _mm_setcsr(before | FLUSH_AND_NO_SUBNORMALS);
    fold_in_turn(CCO_EXACT_DOUBLE, x, sizeof *x, LEN(x), &fold, 1);
    sum = sum_of(x, LEN(x));
    const unsigned after = _mm_getcsr();
    _mm_setcsr(before);
    CHECK(after == (before | FLUSH_AND_NO_SUBNORMALS), "the setting was changed");
    CHECK(same(fold, -0x1p-1023 + 0x1p-1074), "a fold is %a", fold);
    CHECK(same(sum, -0x1p-1023 + 0x1p-1074), "a sum is %a", sum);
}
#endif

/* Each instruction set, every number of operands, elements at random: as the exact sums. */
static void folds(void)
{
    enum { ELEMENTS = 700, OPERANDS = 9 };
    static double x[OPERANDS][ELEMENTS], to[ELEMENTS];
    unsigned seed = 7;
    for (int spread = 0; spread < 3; spread++) {
        for (int k = 0; k < OPERANDS; k++)
            for (int i = 0; i < ELEMENTS; i++) {
                const double u = (double)rand_r(&seed) / RAND_MAX - 0.5;
                x[k][i] = ldexp(i % 7 == 3 ? 0 : u, (int)(rand_r(&seed) % 600u) * spread - 300);
            }
        for (int n = 1; n <= OPERANDS; n++) {
            int wrong = 0;
            fold_in_turn(CCO_EXACT_DOUBLE, x, sizeof x[0], n, to, ELEMENTS);
            for (int i = 0; i < ELEMENTS; i++) {
                double column[OPERANDS];
                for (int k = 0; k < n; k++)
                    column[k] = x[k][i];
                wrong += !same(to[i], sum_of(column, (size_t)n));
            }
            CHECK(wrong == 0, "%d operands, spread %d: %d sums are wrong", n, spread, wrong);
        }
    }
}

static void types(void)
{
    CHECK(cco_fold_of_number(CCO_C32) != NULL && cco_fold_of_number(CCO_C64) != NULL, "complex");
    CHECK(cco_fold_of_number(CCO_I64) == NULL && cco_fold_of_number(CCO_NUMBERS) == NULL, "others");
    CHECK((cco_fold_of_number(CCO_LONG_DOUBLE) != NULL) == (CCO_EXACT_LONG != 0), "long doubles");
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "-") == 0)
        return sum_lines();
    special_numbers();
    carries();
    goes_on();
    environments();
#if defined(__SSE2__)
    flushed_to_zero();
#endif
    folds();
    types();
    return testing_end("exact_sum");
}
