/* SPDX-License-Identifier: BSD-3-Clause */
/* atomics_values.c - what each accumulate makes of each type by each operation, on several counts,
 * with derived types and misaligned elements: compared with MPI_Reduce_local.  Every rank has a
 * part of the target's memory for itself.  In plain MPI.
 *
 *     atomics_values [ROUNDS [SEED [KINDS]]]      of so many kinds of elements
 */
#include <mpi.h>
#include <stdint.h>

#include "testing/testing.h"

enum { MOST = 20, PART = 4096, CALLS = 7 };

static int rank, ranks;
static unsigned state = 1;

static unsigned chance(unsigned below)
{
    state = state * 1103515245u + 12345u;
    return (state >> 8) % below;
}

typedef enum group { INTEGER, NUMBER, COMPLEX, LOGICAL, BYTES, PAIR } group;

/* The first ones are right in every MPI. */
static const struct kind {
    const char *name;
    MPI_Datatype type;
    group group;
} kinds[] = {
    {"int", MPI_INT, INTEGER},
    {"long", MPI_LONG, INTEGER},
    {"float", MPI_FLOAT, NUMBER},
    {"double", MPI_DOUBLE, NUMBER},
    {"signed char", MPI_SIGNED_CHAR, INTEGER},
    {"short", MPI_SHORT, INTEGER},
    {"uint8", MPI_UINT8_T, INTEGER},
    {"uint64", MPI_UINT64_T, INTEGER},
    {"long double", MPI_LONG_DOUBLE, NUMBER},
    {"complex", MPI_C_FLOAT_COMPLEX, COMPLEX},
    {"double complex", MPI_C_DOUBLE_COMPLEX, COMPLEX},
    {"bool", MPI_C_BOOL, LOGICAL},
    {"logical", MPI_LOGICAL, LOGICAL},
    {"byte", MPI_BYTE, BYTES},
    {"char", MPI_CHAR, INTEGER},
    {"2int", MPI_2INT, PAIR},
    {"double int", MPI_DOUBLE_INT, PAIR},
    {"short int", MPI_SHORT_INT, PAIR},
    {"float int", MPI_FLOAT_INT, PAIR},
};
static const struct kind *kind;

static const char *name_of(MPI_Op op)
{
    const MPI_Op ops[] = {MPI_REPLACE, MPI_NO_OP, MPI_SUM,    MPI_PROD,  MPI_MIN,
                          MPI_MAX,     MPI_BAND,  MPI_BOR,    MPI_BXOR,  MPI_LAND,
                          MPI_LOR,     MPI_LXOR,  MPI_MINLOC, MPI_MAXLOC};
    static const char *const names[] = {"replace", "no_op", "sum",    "prod",  "min",
                                        "max",     "band",  "bor",    "bxor",  "land",
                                        "lor",     "lxor",  "minloc", "maxloc"};
    int i = 0;
    while (i < LEN(ops) - 1 && ops[i] != op)
        i++;
    return names[i];
}

static MPI_Op chosen_op(void)
{
    const MPI_Op all[] = {MPI_REPLACE, MPI_NO_OP},
                 of_integers[] = {MPI_SUM, MPI_PROD, MPI_MIN,  MPI_MAX, MPI_BAND,
                                  MPI_BOR, MPI_BXOR, MPI_LAND, MPI_LXOR};
    const MPI_Op of_numbers[] = {MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX},
                 of_logicals[] = {MPI_LAND, MPI_LOR, MPI_LXOR},
                 of_bytes[] = {MPI_BAND, MPI_BOR, MPI_BXOR}, of_pairs[] = {MPI_MINLOC, MPI_MAXLOC};
    if (chance(4) == 0)
        return all[chance(2)];
    switch (kind->group) {
    case INTEGER:
        return of_integers[chance(LEN(of_integers))];
    case NUMBER:
        return of_numbers[chance(LEN(of_numbers))];
    case COMPLEX:
        return of_numbers[chance(2)];
    case LOGICAL:
        return of_logicals[chance(LEN(of_logicals))];
    case BYTES:
        return of_bytes[chance(LEN(of_bytes))];
    default:
        return of_pairs[chance(LEN(of_pairs))];
    }
}

/* Random elements, small enough for every operation; gaps are zero. */
static void fill(char *at, int n)
{
    MPI_Aint low, extent;
    int size;
    MPI_Type_get_extent(kind->type, &low, &extent);
    MPI_Type_size(kind->type, &size);
    memset(at, 0, (size_t)(n * extent));
    for (int i = 0; i < n; i++, at += extent) {
        if (kind->group == NUMBER || kind->group == COMPLEX) {
            float f[2] = {(float)chance(9) - 4, (float)chance(9) - 4};
            double d[2] = {f[0], f[1]};
            long double w = f[0];
            if (kind->type == MPI_LONG_DOUBLE)
                memcpy(at, &w, 10); /* the rest is a gap */
            else
                memcpy(at,
                       kind->type == MPI_DOUBLE || kind->type == MPI_C_DOUBLE_COMPLEX ? (void *)d
                                                                                      : (void *)f,
                       (size_t)size);
        } else if (kind->group == LOGICAL) {
            at[0] = (char)chance(2);
        } else if (kind->type == MPI_DOUBLE_INT || kind->type == MPI_FLOAT_INT) {
            const float f = (float)chance(5);
            const double d = f;
            memcpy(at, kind->type == MPI_FLOAT_INT ? (void *)&f : (void *)&d,
                   kind->type == MPI_FLOAT_INT ? 4 : 8);
            at[kind->type == MPI_FLOAT_INT ? 4 : 8] = (char)chance(9);
        } else if (kind->group == PAIR) {
            at[0] = (char)chance(5);
            at[4] = (char)chance(9);
        } else {
            for (int k = 0; k < size; k++)
                at[k] = (char)chance(256);
        }
    }
}

/* A derived type of `*n` elements, as one; or the elements themselves.  `places`: where they are,
 * in elements. */
static MPI_Datatype shaped(int n, int derived, int places[MOST], int *count)
{
    MPI_Datatype made = kind->type;
    int blocks[MOST];
    *count = n;
    for (int i = 0; i < n; i++) {
        places[i] = derived == 0 ? i : derived == 1 ? 2 * i : derived == 2 ? 2 * (n - 1 - i) : i;
        blocks[i] = 1;
    }
    if (derived == 0)
        return made;
    if (derived == 1) { /* `n` of a resized pair of one element and a hole */
        MPI_Aint low, extent;
        MPI_Type_get_extent(kind->type, &low, &extent);
        MPI_Type_create_resized(kind->type, 0, 2 * extent, &made);
    } else if (derived == 2) { /* backwards */
        MPI_Type_indexed(n, blocks, places, kind->type, &made);
        *count = 1;
    } else {
        MPI_Datatype inner;
        MPI_Type_contiguous(n, kind->type, &inner);
        MPI_Type_dup(inner, &made);
        MPI_Type_free(&inner);
        *count = 1;
    }
    MPI_Type_commit(&made);
    return made;
}

typedef struct side {
    char memory[2 * MOST * 32 + 16], *at;
    int places[MOST], count;
    MPI_Datatype type;
} side;

static void make_side(side *s, int n, int derived)
{
    s->at = s->memory;
    fill(s->at, 2 * MOST);
    s->type = shaped(n, derived, s->places, &s->count);
}

static void drop(side *s)
{
    if (s->type != kind->type)
        MPI_Type_free(&s->type);
}

/* Integers by sum, product, minimum and maximum, which MPIs have defects in (docs/mpi-defects.md):
 * true if computed. */
#define INTEGERS(T)                                                                                \
    do {                                                                                           \
        T a, b;                                                                                    \
        memcpy(&a, operand, sizeof a);                                                             \
        memcpy(&b, target, sizeof b);                                                              \
        if (op == MPI_SUM)                                                                         \
            b = (T)((uint64_t)a + (uint64_t)b);                                                    \
        else if (op == MPI_PROD)                                                                   \
            b = (T)((uint64_t)a * (uint64_t)b);                                                    \
        else if ((op == MPI_MIN) == (a < b))                                                       \
            b = a;                                                                                 \
        memcpy(target, &b, sizeof b);                                                              \
    } while (0)

static int integers(MPI_Op op, const char *operand, char *target)
{
    if (kind->group != INTEGER ||
        (op != MPI_SUM && op != MPI_PROD && op != MPI_MIN && op != MPI_MAX))
        return 0;
    if (kind->type == MPI_CHAR)
        INTEGERS(char);
    else if (kind->type == MPI_SIGNED_CHAR)
        INTEGERS(int8_t);
    else if (kind->type == MPI_SHORT)
        INTEGERS(int16_t);
    else if (kind->type == MPI_INT)
        INTEGERS(int32_t);
    else if (kind->type == MPI_LONG)
        INTEGERS(int64_t);
    else if (kind->type == MPI_UINT8_T)
        INTEGERS(uint8_t);
    else
        INTEGERS(uint64_t);
    return 1;
}

/* One call, and what it should have done to a copy of this rank's part and to the result. */
static char copy[PART], expected[2 * MOST * 32 + 16];

static void expect(MPI_Op op, int n, const side *origin, const side *result, char *part,
                   const int *places, int fetches)
{
    MPI_Aint low, extent, true_extent;
    MPI_Type_get_extent(kind->type, &low, &extent);
    MPI_Type_get_true_extent(kind->type, &low, &true_extent);
    memcpy(expected, result->memory, sizeof expected);
    for (int i = 0; i < n; i++) {
        char *target = part + places[i] * extent;
        const char *operand = origin->at + origin->places[i] * extent;
        if (fetches)
            memcpy(expected + result->places[i] * extent, target, (size_t)true_extent);
        if (op == MPI_REPLACE)
            memcpy(target, operand, (size_t)true_extent);
        else if (op != MPI_NO_OP && !integers(op, operand, target))
            MPI_Reduce_local((void *)operand, target, 1, kind->type, op);
    }
}

/* Where the first element differs in what it holds, not in its gaps; -1 if none does. */
static int difference(const char *found, const char *wanted, int bytes, int from)
{
    MPI_Aint low, extent;
    MPI_Type_get_extent(kind->type, &low, &extent);
    for (int i = 0; i < bytes; i++) {
        const int at = i < from ? 0 : (i - from) % (int)extent;
        const int gap = (kind->type == MPI_LONG_DOUBLE && at >= 10) ||
                        (kind->type == MPI_SHORT_INT && (at == 2 || at == 3)) ||
                        (kind->type == MPI_DOUBLE_INT && at >= 12);
        if (!gap && found[i] != wanted[i])
            return i;
    }
    return -1;
}

static void call(int which, MPI_Op op, int n, side *o, side *r, const side *t, int to,
                 MPI_Aint disp, MPI_Win win)
{
    MPI_Request request;
    if (which == 0) {
        MPI_Accumulate(o->at, o->count, o->type, to, disp, t->count, t->type, op, win);
    } else if (which == 1) {
        MPI_Get_accumulate(o->at, o->count, o->type, r->at, r->count, r->type, to, disp, t->count,
                           t->type, op, win);
    } else if (which == 2) {
        MPI_Raccumulate(o->at, o->count, o->type, to, disp, t->count, t->type, op, win, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (which == 3) {
        int flag = 0;
        MPI_Rget_accumulate(o->at, o->count, o->type, r->at, r->count, r->type, to, disp, t->count,
                            t->type, op, win, &request);
        while (!flag)
            MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
#if MPI_VERSION >= 4
    } else if (which == 5) {
        MPI_Accumulate_c(o->at, o->count, o->type, to, disp, t->count, t->type, op, win);
    } else if (which == 6) {
        MPI_Get_accumulate_c(o->at, o->count, o->type, r->at, r->count, r->type, to, disp, t->count,
                             t->type, op, win);
#endif
    } else {
        MPI_Fetch_and_op(o->at, r->at, kind->type, to, disp, op, win);
    }
    (void)n;
}

/* Intel MPI, for which no accumulate is ours, loses the gaps of pairs that a derived type gives:
 * docs/mpi-defects.md. */
static int loses_gaps(void)
{
#if defined(I_MPI_VERSION)
    return kind->type == MPI_SHORT_INT || kind->type == MPI_DOUBLE_INT;
#else
    return 0;
#endif
}

/* `base`: of this rank's part on `to`, in this process; NULL: it is fetched. */
static void one(MPI_Win win, int to)
{
    static side origin, result, target;
    MPI_Aint low, extent;
    int which = (int)chance(MPI_VERSION >= 4 ? CALLS : 5);
    const int n = which == 4 ? 1 : 1 + (int)chance(MOST);
    const MPI_Op op = chosen_op();
    const int fetches = which == 1 || which == 3 || which == 4 || which == 6;
    if (op == MPI_NO_OP && !fetches)
        return;
    MPI_Type_get_extent(kind->type, &low, &extent);
    make_side(&origin, n, which == 4 || loses_gaps() ? 0 : (int)chance(4));
    make_side(&result, n, which == 4 ? 0 : (int)chance(4));
    target.type = shaped(n, which == 4 ? 0 : (int)chance(4), target.places, &target.count);
    /* bytes are units: elements may lie anywhere, those of one location always in the same way */
    char *const part = copy + (chance(2) ? 3 : 0);
    fill(part, 2 * MOST);
    MPI_Put(copy, PART, MPI_BYTE, to, rank * PART, PART, MPI_BYTE, win);
    MPI_Win_flush(to, win);
    const MPI_Aint disp = rank * PART + (part - copy);
    expect(op, n, &origin, &result, part, target.places, fetches);
    call(which, op, n, &origin, &result, &target, to, disp, win);
    MPI_Win_flush(to, win);
    static char found[PART];
    MPI_Get(found, PART, MPI_BYTE, to, rank * PART, PART, MPI_BYTE, win);
    MPI_Win_flush(to, win);
    snprintf(testing_label, sizeof testing_label, "%s, call %d of %d, %s", kind->name, which, n,
             name_of(op));
    const int from = (int)(part - copy);
    const int in_target = difference(found, copy, from + 2 * MOST * 16, from),
              in_result = difference(result.memory, expected, 2 * MOST * 16, 0);
    CHECK(in_target < 0, "target from %d: byte %d", from, in_target);
    CHECK(in_result < 0, "result: byte %d", in_result);
    drop(&origin);
    drop(&result);
    drop(&target);
}

int main(int argc, char **argv)
{
    MPI_Win win;
    char *base;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    testing_rank = rank;
    testing_watchdog(60);
    const int rounds = argc > 1 ? atoi(argv[1]) : 1500;
    state = (argc > 2 ? (unsigned)atoi(argv[2]) : 1) * 7919u + (unsigned)rank;
    const int used = argc > 3 ? atoi(argv[3]) : LEN(kinds);
    for (int shared = 0; shared < 2; shared++) {
        const MPI_Aint size = (MPI_Aint)ranks * PART;
        if (shared)
            MPI_Win_allocate_shared(size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
        else
            MPI_Win_allocate(size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
        MPI_Win_lock_all(0, win);
        for (int i = 0; i < rounds; i++) {
            kind = &kinds[i % used];
            one(win, (int)chance((unsigned)ranks));
        }
        MPI_Win_unlock_all(win);
        MPI_Win_free(&win);
    }
    MPI_Finalize();
    return testing_end("atomics_values");
}
