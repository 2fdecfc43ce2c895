/* SPDX-License-Identifier: BSD-3-Clause */
/* kernels.c - our operations (src/reduce/kernels.h) against their definition, bit by bit: every one
 * on every type, in every instruction set of this processor, for odd counts at odd addresses.  Not
 * against MPI_Reduce_local, which has mistakes of its own (docs/mpi-defects.md). */
#include "reduce/kernels.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "testing/testing.h"

enum { N = 67, WIDEST = 32, SHIFT = 16, ROOM = SHIFT + N * WIDEST + 64 };

/* Bits of the operations that a type has. */
enum { ARITHMETIC = 0xf, LOGICAL = 0x70, BITWISE = 0x380, ALL = 0x3ff, LOCATION = 0xc00 };
enum { COMPLEX = 0x3 };
enum { SUM, PROD, MAX, MIN, MINLOC = 10, MAXLOC };

typedef enum nature { SIGNED, UNSIGNED, BOOLEAN, REAL } nature;

/* A value, and behind it another one: the imaginary part or the index. */
typedef struct named_type {
    const char *name;
    MPI_Datatype type;
    int operations;
    nature value;
    int size, step; /* of the value; from one element to the next */
    int at, second; /* where the other one lies and its size; 0 if there is none */
    nature index;
} named_type;

typedef unsigned char bytes[ROOM];

static unsigned chance(void)
{
    static uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33);
}

static uint64_t load(const unsigned char *from, int size, bool has_sign)
{
    uint64_t x = 0;
    memcpy(&x, from, (size_t)size); /* little-endian, like all machines that this is tried on */
    const int gone = 64 - 8 * size;
    return has_sign ? (uint64_t)((int64_t)(x << gone) >> gone) : x;
}

/* Numbers of any nature; the pairs' integers are small. */
static long double number(nature what, const unsigned char *from, int size)
{
    float f;
    double d;
    long double x = 0;
    if (what != REAL)
        return (long double)(int64_t)load(from, size, true);
    if (size == sizeof f)
        return memcpy(&f, from, sizeof f), f;
    if (size == sizeof d)
        return memcpy(&d, from, sizeof d), d;
    return memcpy(&x, from, (size_t)size), x;
}

static void store(nature what, unsigned char *to, int size, long double x)
{
    const float f = (float)x;
    const double d = (double)x;
    const int64_t i = what == REAL ? 0 : (int64_t)x;
    const bool extended = LDBL_MANT_DIG == 64; /* x87: 10 bytes and a gap */
    if (what != REAL)
        memcpy(to, &i, (size_t)size);
    else if (size == sizeof f)
        memcpy(to, &f, sizeof f);
    else if (size == sizeof d)
        memcpy(to, &d, sizeof d);
    else
        memcpy(to, &x, extended ? 10 : sizeof x);
}

/* What the standard says comes out, from numbers of 64 bits. */
static uint64_t integer(int op, bool has_sign, uint64_t a, uint64_t b)
{
    const bool less = has_sign ? (int64_t)a < (int64_t)b : a < b;
    const uint64_t results[] = {a + b,  a * b,    less ? b : a, less ? a : b, a && b,
                                a || b, !a != !b, a & b,        a | b,        a ^ b};
    return results[op];
}

/* Rounded once, to the type: twice the digits of a float fit into a double. */
static long double real(int op, int size, long double a, long double b)
{
    if (op == MAX || op == MIN)
        return (op == MAX ? a > b : a < b) ? a : b;
    const double x = (double)a, y = (double)b, r = op == SUM ? x + y : x * y;
    if (size <= (int)sizeof r)
        return size == sizeof(float) ? (long double)(float)r : (long double)r;
    return op == SUM ? a + b : a * b;
}

static void complex(int op, const named_type *t, const long double a[2], const long double b[2],
                    unsigned char *to)
{
    long double x = real(SUM, t->size, a[0], b[0]), y = real(SUM, t->size, a[1], b[1]);
    if (op == PROD) {
        x = real(SUM, t->size, real(PROD, t->size, a[0], b[0]), -real(PROD, t->size, a[1], b[1]));
        y = real(SUM, t->size, real(PROD, t->size, a[0], b[1]), real(PROD, t->size, a[1], b[0]));
    }
    store(REAL, to, t->size, x);
    store(REAL, to + t->at, t->size, y);
}

static void locate(int op, const named_type *t, const long double a[2], const long double b[2],
                   unsigned char *to)
{
    const bool better = op == MINLOC ? a[0] < b[0] : a[0] > b[0];
    const long double *best = better || (a[0] == b[0] && a[1] < b[1]) ? a : b;
    store(t->value, to, t->size, best[0]);
    store(t->index, to + t->at, t->second, best[1]);
}

static void define(int op, const named_type *t, const unsigned char *a, const unsigned char *b,
                   unsigned char *to)
{
    if (t->value != REAL && t->second == 0) {
        const bool has_sign = t->value == SIGNED;
        const uint64_t r = integer(op, has_sign, load(a, t->size, has_sign),
                                   load(b, t->size, has_sign));
        memcpy(to, &r, (size_t)t->size);
        return;
    }
    const int second = t->second > 0 ? t->second : t->size;
    const long double x[2] = {number(t->value, a, t->size), number(t->index, a + t->at, second)};
    const long double y[2] = {number(t->value, b, t->size), number(t->index, b + t->at, second)};
    if (op >= MINLOC)
        locate(op, t, x, y, to);
    else if (t->second > 0)
        complex(op, t, x, y, to);
    else
        store(REAL, to, t->size, real(op, t->size, x[0], y[0]));
}

/* Zeros of both signs, what is no number, ties, and numbers whose sums are rounded. */
static long double any_real(bool pair)
{
    const long double special[] = {0.0L, -0.0L, NAN, INFINITY, -INFINITY, 1.0L, -1.0L};
    if (chance() % 3 == 0)
        return special[chance() % LEN(special)];
    return pair ? chance() % 3 : ((long double)chance() - chance()) / 7 / (1 + chance() % 1000);
}

/* Random bytes, also in gaps; over them what reals, truth values and pairs need. */
static void fill(unsigned char *at, const named_type *t, int n)
{
    const bool pair = t->operations == LOCATION;
    for (int i = 0; i < n * t->step; i++)
        at[i] = (unsigned char)(chance() % 4 == 0 ? 0 : chance());
    for (int i = 0; i < n; i++, at += t->step) {
        if (t->value == BOOLEAN)
            at[0] = (unsigned char)(chance() % 2);
        else if (t->value == REAL)
            store(REAL, at, t->size, any_real(pair));
        else if (pair)
            store(SIGNED, at, t->size, (int)(chance() % 7) - 3);
        if (t->second > 0)
            store(t->index, at + t->at, t->second, pair ? chance() % 5 : any_real(false));
    }
}

/* Which NaN comes out is open. */
static void forgive(const named_type *t, const unsigned char *ours, unsigned char *right, int n)
{
    const int parts = t->second > 0 && t->index == REAL ? 2 : 1;
    for (int i = 0; i < n * parts && t->value == REAL; i++) {
        const int at = i / parts * t->step + (i % parts) * t->at;
        if (isnan(number(REAL, ours + at, t->size)) && isnan(number(REAL, right + at, t->size)))
            memcpy(right + at, ours + at, (size_t)t->size);
    }
}

/* The result lies where `where` says: 0, in `a`; 1, in `b`; 2, apart. */
static void compare(int op, const named_type *t, cco_kernel kernel, int n, int where)
{
    static bytes a, b, c, right;
    unsigned char *const operands[] = {a + chance() % SHIFT, b + chance() % SHIFT,
                                       c + chance() % SHIFT};
    unsigned char *const all[] = {a, b, c}, *const to = operands[where];
    const ptrdiff_t at = to - all[where];
    for (int i = 0; i < 3; i++) {
        memset(all[i], 0x5a, ROOM);
        fill(operands[i], t, n);
    }
    memcpy(right, all[where], ROOM);
    for (int i = 0; i < n; i++)
        define(op, t, operands[0] + i * t->step, operands[1] + i * t->step,
               right + at + i * t->step);
    kernel(operands[0], operands[1], to, (size_t)n);
    forgive(t, to, right + at, n);
    CHECK(memcmp(all[where], right, ROOM) == 0, "%d elements, the result is operand %d", n, where);
}

static const char *const names[] = {"sum",  "prod", "max", "min",  "land",   "lor",
                                    "lxor", "band", "bor", "bxor", "minloc", "maxloc"};
static const char *const isas[] = {"baseline", "AVX2", "AVX-512"};

static void try_type(const named_type *t, const MPI_Op *ops)
{
    for (int op = 0; op < LEN(names); op++) {
        snprintf(testing_label, sizeof testing_label, "%s of %s", names[op], t->name);
        CHECK((cco_kernel_of(ops[op], t->type) != NULL) == (t->operations >> op & 1),
              "is it there?");
        for (int isa = 0; isa < CCO_ISAS; isa++) {
            const cco_kernel kernel = cco_kernel_in((cco_isa)isa, ops[op], t->type);
            snprintf(testing_label, sizeof testing_label, "%s of %s, %s", names[op], t->name,
                     isas[isa]);
            for (int n = 0; n <= N && kernel != NULL; n++)
                for (int where = 0; where < 3; where++)
                    compare(op, t, kernel, n, where);
        }
    }
}

#define NUMBER(type, c, nature, operations)                                                        \
    {#type, type, operations, nature, sizeof(c), sizeof(c), 0, 0, nature}
/* clang-format off */
#define TWO(type, c, operations, nature, d, nature_d)                                              \
    {#type, type, operations, nature, sizeof(c), sizeof(struct {c x; d y;}),                       \
     offsetof(struct {c x; d y;}, y), sizeof(d), nature_d}
/* clang-format on */

static void try_c(const MPI_Op *ops)
{
    const named_type types[] = {
        NUMBER(MPI_SIGNED_CHAR, signed char, SIGNED, ALL),
        NUMBER(MPI_SHORT, short, SIGNED, ALL),
        NUMBER(MPI_INT, int, SIGNED, ALL),
        NUMBER(MPI_LONG, long, SIGNED, ALL),
        NUMBER(MPI_LONG_LONG, long long, SIGNED, ALL),
        NUMBER(MPI_UNSIGNED_CHAR, unsigned char, UNSIGNED, ALL),
        NUMBER(MPI_UNSIGNED_SHORT, unsigned short, UNSIGNED, ALL),
        NUMBER(MPI_UNSIGNED, unsigned, UNSIGNED, ALL),
        NUMBER(MPI_UNSIGNED_LONG, unsigned long, UNSIGNED, ALL),
        NUMBER(MPI_UNSIGNED_LONG_LONG, unsigned long long, UNSIGNED, ALL),
        NUMBER(MPI_INT8_T, int8_t, SIGNED, ALL),
        NUMBER(MPI_INT16_T, int16_t, SIGNED, ALL),
        NUMBER(MPI_INT32_T, int32_t, SIGNED, ALL),
        NUMBER(MPI_INT64_T, int64_t, SIGNED, ALL),
        NUMBER(MPI_UINT8_T, uint8_t, UNSIGNED, ALL),
        NUMBER(MPI_UINT16_T, uint16_t, UNSIGNED, ALL),
        NUMBER(MPI_UINT32_T, uint32_t, UNSIGNED, ALL),
        NUMBER(MPI_UINT64_T, uint64_t, UNSIGNED, ALL),
        NUMBER(MPI_AINT, MPI_Aint, SIGNED, ARITHMETIC | BITWISE),
        NUMBER(MPI_OFFSET, MPI_Offset, SIGNED, ARITHMETIC | BITWISE),
        NUMBER(MPI_COUNT, MPI_Count, SIGNED, ARITHMETIC | BITWISE),
        NUMBER(MPI_BYTE, unsigned char, UNSIGNED, BITWISE),
        NUMBER(MPI_C_BOOL, _Bool, BOOLEAN, LOGICAL),
        NUMBER(MPI_FLOAT, float, REAL, ARITHMETIC),
        NUMBER(MPI_DOUBLE, double, REAL, ARITHMETIC),
        NUMBER(MPI_LONG_DOUBLE, long double, REAL, ARITHMETIC),
        TWO(MPI_C_COMPLEX, float, COMPLEX, REAL, float, REAL),
        TWO(MPI_C_FLOAT_COMPLEX, float, COMPLEX, REAL, float, REAL),
        TWO(MPI_C_DOUBLE_COMPLEX, double, COMPLEX, REAL, double, REAL),
        TWO(MPI_C_LONG_DOUBLE_COMPLEX, long double, COMPLEX, REAL, long double, REAL),
        TWO(MPI_FLOAT_INT, float, LOCATION, REAL, int, SIGNED),
        TWO(MPI_DOUBLE_INT, double, LOCATION, REAL, int, SIGNED),
        TWO(MPI_LONG_DOUBLE_INT, long double, LOCATION, REAL, int, SIGNED),
        TWO(MPI_SHORT_INT, short, LOCATION, SIGNED, int, SIGNED),
        TWO(MPI_2INT, int, LOCATION, SIGNED, int, SIGNED),
        TWO(MPI_LONG_INT, long, LOCATION, SIGNED, int, SIGNED),
    };
    for (int i = 0; i < LEN(types); i++)
        try_type(&types[i], ops);
}

/* Types that an MPI may have been built without. */
static void try_others(const MPI_Op *ops)
{
    const named_type types[] = {
        NUMBER(MPI_INTEGER, int, SIGNED, ARITHMETIC | BITWISE),
        NUMBER(MPI_REAL, float, REAL, ARITHMETIC),
        NUMBER(MPI_DOUBLE_PRECISION, double, REAL, ARITHMETIC),
        TWO(MPI_COMPLEX, float, COMPLEX, REAL, float, REAL),
        TWO(MPI_DOUBLE_COMPLEX, double, COMPLEX, REAL, double, REAL),
        TWO(MPI_2REAL, float, LOCATION, REAL, float, REAL),
        TWO(MPI_2DOUBLE_PRECISION, double, LOCATION, REAL, double, REAL),
        TWO(MPI_2INTEGER, int, LOCATION, SIGNED, int, SIGNED),
#ifdef MPI_INTEGER8
        NUMBER(MPI_INTEGER4, int32_t, SIGNED, ARITHMETIC | BITWISE),
        NUMBER(MPI_INTEGER8, int64_t, SIGNED, ARITHMETIC | BITWISE),
#endif
#ifdef MPI_REAL8
        NUMBER(MPI_REAL4, float, REAL, ARITHMETIC),
        NUMBER(MPI_REAL8, double, REAL, ARITHMETIC),
#endif
#ifdef MPI_COMPLEX16
        TWO(MPI_COMPLEX8, float, COMPLEX, REAL, float, REAL),
        TWO(MPI_COMPLEX16, double, COMPLEX, REAL, double, REAL),
#endif
#ifdef MPI_CXX_BOOL
        NUMBER(MPI_CXX_BOOL, _Bool, BOOLEAN, LOGICAL),
        TWO(MPI_CXX_FLOAT_COMPLEX, float, COMPLEX, REAL, float, REAL),
        TWO(MPI_CXX_DOUBLE_COMPLEX, double, COMPLEX, REAL, double, REAL),
        TWO(MPI_CXX_LONG_DOUBLE_COMPLEX, long double, COMPLEX, REAL, long double, REAL),
#endif
    };
    for (int i = 0; i < LEN(types); i++) {
        int size = 0;
        if (types[i].type != MPI_DATATYPE_NULL)
            MPI_Type_size(types[i].type, &size);
        if (size == types[i].size + types[i].second)
            try_type(&types[i], ops);
        else
            printf("not tried: %s, which this MPI has in %d bytes\n", types[i].name, size);
    }
}

static void nothing(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)n, (void)type;
}

/* What is left to the MPI. */
static void try_unknown(void)
{
    MPI_Datatype one;
    MPI_Op own;
    MPI_Type_contiguous(1, MPI_INT, &one);
    MPI_Op_create(nothing, 1, &own);
    snprintf(testing_label, sizeof testing_label, "unknown");
    CHECK(cco_kernel_of(MPI_SUM, MPI_DATATYPE_NULL) == NULL, "no type");
    CHECK(cco_kernel_of(MPI_SUM, one) == NULL, "a type of the program");
    CHECK(cco_kernel_of(MPI_LAND, MPI_LOGICAL) == NULL, "a type that differs between compilers");
    CHECK(cco_kernel_of(MPI_MAX, MPI_CHAR) == NULL, "a type without operations");
    CHECK(cco_kernel_of(MPI_OP_NULL, MPI_INT) == NULL, "no operation");
    CHECK(cco_kernel_of(own, MPI_INT) == NULL, "an operation of the program");
    MPI_Type_free(&one);
    MPI_Op_free(&own);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    const MPI_Op ops[] = {MPI_SUM,  MPI_PROD, MPI_MAX, MPI_MIN,  MPI_LAND,   MPI_LOR,
                          MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_MINLOC, MPI_MAXLOC};
    try_c(ops);
    try_others(ops);
    try_unknown();
    for (int isa = 0; isa < CCO_ISAS; isa++)
        printf("%s: %s\n", isas[isa],
               cco_kernel_in((cco_isa)isa, MPI_SUM, MPI_INT) != NULL ? "tried" : "not here");
    MPI_Finalize();
    return testing_end("kernels");
}
