/* SPDX-License-Identifier: BSD-3-Clause */
/* reproducible.c - sums under CRESTA_REPRODUCIBLE=1 have the bits of the exact sum, rounded once,
 * under each implementation of the list, whatever the order of ranks: for large numbers that cancel
 * and small ones that are left, which no order of additions keeps.  Plain and linked; linked also
 * begun calls and CRESTA_Repro_sum_type. */
#include <complex.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#ifndef PLAIN_MPI
#include <crestacoll.h>
#define CALL(name) CRESTA_##name
#else
#define CALL(name) MPI_##name
#endif

#include "choose.h"

enum { MOST = 20011, MORE = 64, TYPES = 5, SPECIAL = 4, FEW = 9, FULL = 3 };

static const size_t sizes[TYPES] = {sizeof(double), sizeof(float), sizeof(double complex),
                                    sizeof(float complex), sizeof(long double)};
static const char *const type_names[TYPES] = {"double", "float", "double complex", "float complex",
                                              "long double"};
static MPI_Datatype types[TYPES];
static int rank, size; /* in the communicator of a trial */

/* The number that the `who`th of `of` gives for element `i`: pairs of large ones cancel. */
static double large(int type, int i, int who, int of)
{
    const double unit = type == 1 || type == 3 ? 0x1p40 : 0x1p80;
    return (who | 1) < of ? (who & 1 ? -1 : 1) * unit * (1 + (i + who / 2) % 5) : 0;
}

static double small(int i, int who)
{
    return (i * 7 + who * 3) % 11 - 4;
}

/* Elements that are no plain numbers. */
static bool special(int type, int i, int who, int of, double *x)
{
    if (type != 0 || i >= SPECIAL)
        return false;
    *x = i == 0   ? (who == 0   ? INFINITY
                     : who == 1 ? -INFINITY
                                : 1)
         : i == 1 ? -0.0
         : i == 2 ? (who == of - 1 ? -INFINITY : 1)
                  : (who == 0        ? 0x1p-1074
                     : who == of - 1 ? -0x1p-1074
                                     : 0);
    return true;
}

static void set(void *to, int type, int i, double x, double y)
{
    char *at = (char *)to + (size_t)i * sizes[type];
    const float pair[] = {(float)x, (float)y};
    const double two[] = {x, y};
    const long double one = x;
    memcpy(at,
           type == 4  ? (const void *)&one
           : type & 1 ? (const void *)pair
                      : (const void *)two,
           type == 4 ? sizeof one : sizes[type]);
}

/* The other part of a complex number is the real one of the next element. */
static void fill(void *to, int type, int n, int who)
{
    for (int i = 0; i < n; i++) {
        const double l = large(type, i, who, size), next = large(type, i + 1, who, size);
        double x = l != 0 ? l : small(i, who);
        special(type, i, who, size, &x);
        set(to, type, i, x, next != 0 ? next : small(i, who));
    }
}

/* The exact sum of what the first `count` of them give: at most one large number is left, and what
 * is small are integers; so one addition rounds it.  `part`: of a complex number. */
static double exact(int type, int i, int part, int count)
{
    double left = 0, rest = 0;
    for (int who = 0; who < count; who++) {
        const double l = large(type, i + part, who, size);
        left += l;
        rest += l != 0 ? 0 : small(i, who);
    }
    if (type & 1)
        return (float)(left + rest);
    return left + rest;
}

/* Quiet, positive, without payload. */
static double special_sum(int i, int count)
{
    const uint64_t nan = 0x7ff8000000000000u;
    double x;
    memcpy(&x, &nan, sizeof x);
    if (i == 0)
        return count > 1 ? x : INFINITY;
    if (i == 1)
        return -0.0;
    if (i == 2)
        return count == size ? -INFINITY : count;
    return count == size && size > 1 ? 0.0 : 0x1p-1074;
}

static int wrong_elements(const void *found, int type, int first, int n, int count)
{
    int wrong = 0;
    for (int i = 0; i < n; i++) {
        char expected[sizeof(long double) * 2] = {0};
        const int e = first + i;
        const bool own = type == 0 && e < SPECIAL;
        set(expected, type, 0, own ? special_sum(e, count) : exact(type, e, 0, count),
            exact(type, e, 1, count));
        wrong += memcmp((const char *)found + (size_t)i * sizes[type], expected,
                        type == 4 ? 10 : sizes[type]) != 0;
    }
    return wrong;
}

static char *in, *out;

static void expect(const char *call, const char *impl, int type, int first, int n, int count)
{
    const int wrong = wrong_elements(out, type, first, n, count);
    CHECK(wrong == 0, "%s of %s under %s: %d of %d elements are wrong", call, type_names[type],
          impl, wrong, n);
}

/* `who`: what this rank gives, whatever its place. */
static void to_all(MPI_Comm comm, const char *impl, int type, int n, int who)
{
    const MPI_Datatype t = types[type];
    const int root = n % size;
    fill(in, type, n, who);
    CALL(Allreduce)(in, out, n, t, MPI_SUM, comm);
    expect("allreduce", impl, type, 0, n, size);
    fill(out, type, n, who);
    CALL(Allreduce)(MPI_IN_PLACE, out, n, t, MPI_SUM, comm);
    expect("allreduce in place", impl, type, 0, n, size);
    fill(out, type, n, who);
    CALL(Reduce)(rank == root ? MPI_IN_PLACE : out, out, n, t, MPI_SUM, root, comm);
    if (rank == root)
        expect("reduce", impl, type, 0, n, size);
}

static void in_parts(MPI_Comm comm, const char *impl, int type, int n, int who)
{
    const MPI_Datatype t = types[type];
    const int each = n / size;
    int counts[64], first = 0;
    fill(in, type, n + MORE, who);
    CALL(Reduce_scatter_block)(in, out, each, t, MPI_SUM, comm);
    expect("reduce_scatter_block", impl, type, rank * each, each, size);
    for (int i = 0; i < size; i++) {
        counts[i] = i % 2 ? 0 : n / (2 * size) + i;
        first += i < rank ? counts[i] : 0;
    }
    CALL(Reduce_scatter)(in, out, counts, t, MPI_SUM, comm);
    expect("reduce_scatter", impl, type, first, counts[rank], size);
}

/* In the order of ranks: each gives what is its own by its place. */
static void prefixes(MPI_Comm comm, const char *impl, int type, int n)
{
    fill(in, type, n, rank);
    CALL(Scan)(in, out, n, types[type], MPI_SUM, comm);
    expect("scan", impl, type, 0, n, rank + 1);
    CALL(Exscan)(in, out, n, types[type], MPI_SUM, comm);
    if (rank > 0)
        expect("exscan", impl, type, 0, n, rank);
}

#ifndef PLAIN_MPI
static void linked(MPI_Comm comm, const char *impl, int type, int n, int who)
{
    MPI_Request request;
    fill(in, type, n, who);
    memset(out, 0, (size_t)n * sizes[type]);
    CRESTA_Allreduce_begin(in, out, n, types[type], MPI_SUM, comm, &request);
    CRESTA_Coll_end(1, &request);
    expect("allreduce_begin", impl, type, 0, n, size);
    for (int i = 0; i < n && i < FEW; i++)
        CRESTA_Repro_sum_type(in + (size_t)i * sizes[type], 1, types[type],
                              out + (size_t)i * sizes[type], comm);
    expect("CRESTA_Repro_sum_type", impl, type, 0, n < FEW ? n : FEW, size);
}
#endif

/* Started side by side, and ended in another order, one of them after it was seen to be over. */
static void started(MPI_Comm comm, const char *impl, int type, int n)
{
    enum { SOME = 512 };
    const MPI_Datatype t = types[type];
    const size_t room = (SOME + MORE) * sizes[type];
    int counts[64], first = 0, over = 0;
    MPI_Request requests[5];
    MPI_Status statuses[4];
    n = n < SOME ? n : SOME;
    fill(in, type, n + MORE, rank);
    for (int i = 0; i < size; i++) {
        counts[i] = i % 2 ? 0 : n / (2 * size) + i;
        first += i < rank ? counts[i] : 0;
    }
    CALL(Iallreduce)(in, out, n, t, MPI_SUM, comm, &requests[0]);
    CALL(Iscan)(in, out + room, n, t, MPI_SUM, comm, &requests[1]);
    CALL(Ireduce)(in, out + 2 * room, n, t, MPI_SUM, size - 1, comm, &requests[2]);
    CALL(Ireduce_scatter)(in, out + 3 * room, counts, t, MPI_SUM, comm, &requests[3]);
    memcpy(out + 4 * room, in, room);
    CALL(Ireduce_scatter_block)
    (MPI_IN_PLACE, out + 4 * room, n / size, t, MPI_SUM, comm, &requests[4]);
    while (!over)
        MPI_Request_get_status(requests[1], &over, MPI_STATUS_IGNORE);
    out += room;
    expect("iscan", impl, type, 0, n, rank + 1);
    MPI_Waitall(4, requests + 1, statuses);
    expect("iscan", impl, type, 0, n, rank + 1);
    out += room;
    if (rank == size - 1)
        expect("ireduce", impl, type, 0, n, size);
    out += room;
    expect("ireduce_scatter", impl, type, first, counts[rank], size);
    out += room;
    expect("ireduce_scatter_block in place", impl, type, rank * (n / size), n / size, size);
    out -= 4 * room;
    for (over = 0; !over;)
        MPI_Test(&requests[0], &over, MPI_STATUS_IGNORE);
    expect("iallreduce", impl, type, 0, n, size);
}

/* Integers, and what no rounding is in, run as ever. */
static void others(MPI_Comm comm, const char *impl)
{
    const int mine[] = {rank, 1};
    const double x = rank + 1.0;
    int sums[2] = {0};
    double most = 0, product = 0, expected = 1;
    CALL(Allreduce)(mine, sums, 2, MPI_INT, MPI_SUM, comm);
    CHECK(sums[0] == size * (size - 1) / 2 && sums[1] == size, "sums of integers under %s", impl);
    CALL(Allreduce)(&x, &most, 1, MPI_DOUBLE, MPI_MAX, comm);
    CHECK(most == size, "the largest number under %s", impl);
    const double third = 1 + x / 3;
    CALL(Allreduce)(&third, &product, 1, MPI_DOUBLE, MPI_PROD, comm);
    for (int i = size; i > 0; i--)
        expected = (1 + i / 3.0) * expected;
    CHECK(product == expected, "a product under %s is %a, in the order of ranks %a", impl, product,
          expected);
}

#if defined(__SSE2__) && !defined(PLAIN_MPI)
/* As programs run that were compiled with -Ofast: subnormal numbers are kept all the same. */
static void flushed_to_zero(MPI_Comm comm)
{
    enum { FLUSH_AND_NO_SUBNORMALS = 0x8040 };
    const unsigned before = _mm_getcsr();
    const float x = 0x1p-140f;
    float sum = 0;
    _mm_setcsr(before | FLUSH_AND_NO_SUBNORMALS);
    CRESTA_Repro_sum_type(&x, 1, MPI_FLOAT, &sum, comm);
    const unsigned after = _mm_getcsr();
    _mm_setcsr(before);
    CHECK(after == (before | FLUSH_AND_NO_SUBNORMALS), "the setting was changed");
    CHECK(sum == (float)size * x, "a sum of subnormal numbers is %a", sum);
}
#endif

/* The place of a rank in one of the permutations of `all` ranks: each in turn takes one of the
 * places that are left, which the next digit of `order` names. */
static int place_of(int who, int order, int all)
{
    int left[64], count = all;
    for (int i = 0; i < all; i++)
        left[i] = i;
    for (int i = 0;; i++) {
        const int digit = order % count, place = left[digit];
        order /= count;
        if (i == who)
            return place;
        memmove(&left[digit], &left[digit + 1], (size_t)(--count - digit) * sizeof *left);
    }
}

static MPI_Comm in_order(int order)
{
    int world, all;
    MPI_Comm comm;
    MPI_Comm_rank(MPI_COMM_WORLD, &world);
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    MPI_Comm_split(MPI_COMM_WORLD, 0, place_of(world, order, all), &comm);
    return comm;
}

/* All there are for up to four ranks, some of the others. */
static int orders(int all)
{
    const int every[] = {1, 1, 2, 6, 24};
    return all < LEN(every) ? every[all] : FULL;
}

static void try_all(const char *impl)
{
    static const int counts[] = {1, 5, 333, MOST};
    int world, all;
    MPI_Comm_rank(MPI_COMM_WORLD, &world);
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    for (int order = 0; order < orders(all); order++) {
        MPI_Comm comm = in_order(order);
        choose(comm, impl);
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &size);
        for (int k = 0; k < LEN(counts) * TYPES; k++) {
            const int type = k % TYPES, n = counts[k / TYPES];
            if (n == MOST && type > 1 && order > 0)
                continue;
            if (order < FULL || (type == 0 && n < MOST))
                to_all(comm, impl, type, n, world);
            if (order >= FULL)
                continue;
            in_parts(comm, impl, type, n, world);
            prefixes(comm, impl, type, n);
            started(comm, impl, type, n);
#ifndef PLAIN_MPI
            linked(comm, impl, type, n, world);
#endif
        }
        if (order < FULL)
            others(comm, impl);
#if defined(__SSE2__) && !defined(PLAIN_MPI)
        flushed_to_zero(comm);
#endif
        MPI_Comm_free(&comm);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &testing_rank);
    types[0] = MPI_DOUBLE;
    types[1] = MPI_FLOAT;
    types[2] = MPI_C_DOUBLE_COMPLEX;
    types[3] = MPI_C_FLOAT_COMPLEX;
    types[4] = MPI_LONG_DOUBLE;
    in = calloc(MOST + MORE, 2 * sizeof(long double));
    out = calloc(MOST + MORE, 2 * sizeof(long double));
    testing_each(argc > 1 ? argv[1] : "p2p", try_all);
    free(in);
    free(out);
    const int rc = testing_end("reproducible");
    MPI_Finalize();
    return rc;
}
