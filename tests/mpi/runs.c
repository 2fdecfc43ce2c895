/* SPDX-License-Identifier: BSD-3-Clause */
/* runs.c - derived datatypes as runs of memory (src/core/runs.h): packs as MPI_Pack does;
 * random types in types, also by what they were made of; handles that are freed and come back; none
 * for what it cannot.
 *
 *     runs [TYPES [SEED]]
 *
 * Links the inside of the library: packed data are the same either way, so that only there one sees
 * which way was taken. */
#include "core/runs.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/run_list.h"
#include "made_types.h"
#include "testing/testing.h"

enum { REACH = 1 << 15, MIDDLE = REACH / 2, LEVELS = 4 };

static char memory[REACH], packed[REACH], expected[REACH];
static char unpacked[REACH], same[REACH];
static long taken, left;   /* types that have runs, and not */
static long tried, agreed; /* random types that MPI_Pack packed, and as we do */

/* Whether `count` elements lie in the memory. */
static bool fits(MPI_Datatype type, int count)
{
    MPI_Aint low, reach, extent;
    MPI_Count size;
    MPI_Type_get_extent(type, &low, &extent);
    MPI_Type_get_true_extent(type, &low, &reach);
    MPI_Type_size_x(type, &size);
    const MPI_Aint last = (count - 1) * extent, least = last < 0 ? low + last : low;
    const MPI_Aint most = low + reach + (last > 0 ? last : 0);
    return size * count < REACH && least > -MIDDLE && most < MIDDLE;
}

/* No byte twice: then it may be unpacked, which says so. */
static bool is_apart(MPI_Datatype type, int count, int size)
{
    int position = 0, marks = 0;
    memset(same, 0, sizeof same);
    memset(packed, 1, sizeof packed);
    MPI_Unpack(packed, size, &position, same + MIDDLE, count, type, MPI_COMM_SELF);
    for (int i = 0; i < REACH; i++)
        marks += same[i];
    return marks == size;
}

static void check(MPI_Datatype type, int count, const char *what, int seed)
{
    int size, position = 0;
    const cco_runs *runs = cco_runs_of(type);
    taken += runs != NULL;
    left += runs == NULL;
    if (runs == NULL || !fits(type, count))
        return;
    MPI_Type_size(type, &size);
    size *= count;
    const bool apart = is_apart(type, count, size);
    memset(packed, 0, sizeof packed);
    memset(expected, 0, sizeof expected);
    MPI_Pack(memory + MIDDLE, count, type, expected, REACH, &position, MPI_COMM_SELF);
    CHECK(position == size, "%s %d: %d bytes are packed of %d", what, seed, position, size);
    cco_runs_pack(runs, packed, memory + MIDDLE, (size_t)count);
    CHECK(memcmp(packed, expected, sizeof packed) == 0, "%s %d: packed otherwise", what, seed);
    if (!apart)
        return;
    memset(same, 0, sizeof same);
    memset(unpacked, 0, sizeof unpacked);
    position = 0;
    MPI_Unpack(expected, size, &position, same + MIDDLE, count, type, MPI_COMM_SELF);
    cco_runs_unpack(runs, unpacked + MIDDLE, expected, (size_t)count);
    CHECK(memcmp(unpacked, same, sizeof same) == 0, "%s %d: unpacked otherwise", what, seed);
}

/* As `made` says, whatever the MPI does: Open MPI 4.1 packs blocks at a stride of -1 byte as if
 * they were behind each other, and forgets gaps between elements whose bounds do not hold them; MPICH
 * 4.0 packs some bytes less than there are where strides are negative or extents odd. */
static void check_made(const made *m, MPI_Datatype type, int count, int seed)
{
    MPI_Aint low, extent;
    int n = 0, position = 0;
    const cco_runs *runs = cco_runs_of(type);
    taken += runs != NULL;
    left += runs == NULL;
    if (runs == NULL || m->count * count >= MOST || !fits(type, count))
        return;
    MPI_Type_get_extent(type, &low, &extent);
    memset(packed, 0, sizeof packed);
    memset(expected, 0, sizeof expected);
    memset(unpacked, 0, sizeof unpacked);
    memset(same, 0, sizeof same);
    for (int i = 0; i < count; i++)
        for (int k = 0; k < m->count; k++) {
            const long at = MIDDLE + i * extent + m->at[k];
            expected[n++] = memory[at];
            same[at] = memory[at];
        }
    cco_runs_pack(runs, packed, memory + MIDDLE, (size_t)count);
    CHECK(memcmp(packed, expected, sizeof packed) == 0, "random type %d: packed otherwise", seed);
    cco_runs_unpack(runs, unpacked + MIDDLE, expected, (size_t)count);
    CHECK(memcmp(unpacked, same, sizeof same) == 0, "random type %d: unpacked otherwise", seed);
    memset(packed, 0, sizeof packed);
    MPI_Pack(memory + MIDDLE, count, type, packed, REACH, &position, MPI_COMM_SELF);
    tried++;
    agreed += memcmp(packed, expected, sizeof packed) == 0;
}

/* The types in it are freed with it, but for its own handle. */
static void test_random(int types, int first)
{
    made *m = malloc(sizeof *m);
    for (int seed = first; seed < first + types; seed++) {
        MPI_Datatype type, copy;
        srand((unsigned)seed);
        make(m, 1 + below(LEVELS));
        MPI_Type_dup(m->type, &type);
        MPI_Type_commit(&type);
        check_made(m, type, 1 + below(4), seed);
        MPI_Type_dup(type, &copy);
        CHECK(cco_runs_of(copy) == cco_runs_of(type), "a duplicate has runs of its own");
        MPI_Type_free(&type);
        check_made(m, copy, 1 + below(4), seed);
        MPI_Type_free(&copy);
    }
    free(m);
    CHECK(types < 100 || taken > 20 * left, "%ld of %ld have no runs", left, taken + left);
    CHECK(agreed * 10 >= tried * 8, "MPI_Pack agrees in %ld of %ld cases", agreed, tried);
}

/* A handle that is freed comes back as another type. */
static void test_handles(void)
{
    for (int i = 0; i < 50; i++) {
        MPI_Datatype type;
        MPI_Type_vector(3, 1 + i % 5, 7 + i % 3, MPI_INT, &type);
        MPI_Type_commit(&type);
        check(type, 2, "vector", i);
        check(type, 3, "vector", i);
        MPI_Type_free(&type);
    }
}

/* Elements that lie between each other: columns of a matrix, a diagonal, and backwards. */
static void test_columns(void)
{
    enum { ROWS = 20, COLUMNS = 30, WIDTH = sizeof(double) };
    const MPI_Aint extents[] = {WIDTH, (COLUMNS + 1) * WIDTH, -WIDTH, 0};
    for (int i = 0; i < LEN(extents); i++)
        for (int bytes = 1; bytes <= 2 * WIDTH; bytes++) {
            MPI_Datatype vector, type;
            MPI_Type_create_hvector(ROWS, bytes, COLUMNS * WIDTH, MPI_BYTE, &vector);
            MPI_Type_create_resized(vector, 0, extents[i], &type);
            MPI_Type_commit(&type);
            check(type, 1, "column", i);
            check(type, 10, "columns", i);
            MPI_Type_free(&vector);
            MPI_Type_free(&type);
        }
}

static void test_bottom(void)
{
    double from[6] = {1, 2, 3, 4, 5, 6}, got[2] = {0, 0};
    MPI_Aint at[2];
    MPI_Datatype type;
    MPI_Get_address(&from[4], &at[0]);
    MPI_Get_address(&from[1], &at[1]);
    MPI_Type_create_hindexed_block(2, 1, at, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    const cco_runs *runs = cco_runs_of(type);
    CHECK(runs != NULL, "no runs at absolute addresses");
    cco_runs_pack(runs, (char *)got, MPI_BOTTOM, 1);
    CHECK(got[0] == 5 && got[1] == 2, "%g %g", got[0], got[1]);
    cco_runs_unpack(runs, MPI_BOTTOM, (const char *)(double[]){50, 20}, 1);
    CHECK(from[4] == 50 && from[1] == 20 && from[0] == 1, "%g %g", from[4], from[1]);
    MPI_Type_free(&type);
}

static size_t runs_in(MPI_Datatype type, bool *there)
{
    cco_run_list list;
    *there = cco_run_list_of(type, &list);
    free(list.runs);
    return list.count;
}

/* Regular types are few runs, however long; irregular ones have a limit. */
static void check_size(const char *what, MPI_Datatype type, size_t most)
{
    bool there;
    const size_t count = runs_in(type, &there);
    CHECK(there == (most > 0) && (!there || count <= most), "%s: %d, %zu runs", what, there, count);
    MPI_Type_commit(&type);
    CHECK((cco_runs_of(type) != NULL) == (most > 0), "%s: runs", what);
    CHECK((cco_runs_of(type) != NULL) == (most > 0), "%s: runs, once more", what);
    MPI_Type_free(&type);
}

static void test_sizes(void)
{
    enum { MANY = 3000 };
    static int places[MANY], lengths[MANY];
    MPI_Datatype type, inner;
    MPI_Type_vector(1 << 30, 1, 3, MPI_DOUBLE, &type);
    check_size("vector", type, 1);
    MPI_Type_create_subarray(2, (const int[]){1000, 900}, (const int[]){1000, 1},
                             (const int[]){0, 7}, MPI_ORDER_C, MPI_DOUBLE, &type);
    check_size("column", type, 1);
    MPI_Type_create_subarray(3, (const int[]){20, 30, 40}, (const int[]){10, 20, 30},
                             (const int[]){1, 2, 3}, MPI_ORDER_C, MPI_INT, &type);
    check_size("block of three dimensions", type, 10);
    for (int i = 0; i < MANY; i++) {
        places[i] = i * i % 997 + 1000 * i;
        lengths[i] = 1 + i % 3;
    }
    MPI_Type_indexed(MANY, lengths, places, MPI_INT, &type);
    check_size("indexed", type, 0);
    MPI_Type_contiguous(2, MPI_DOUBLE_INT, &type);
    check_size("double and int", type, 0);
    MPI_Type_vector(2, 1, 2, MPI_DOUBLE_INT, &inner);
    MPI_Type_dup(inner, &type);
    MPI_Type_free(&inner);
    check_size("vector of double and int", type, 0);
    CHECK(cco_runs_of(MPI_DOUBLE) == NULL, "a type of the standard has runs");
}

/* More than may be kept of all types: those beyond are the MPI's; afterwards there is room. */
static void test_bound(void)
{
    enum { TYPES = 300, BLOCKS_EACH = 900 };
    static MPI_Datatype types[TYPES];
    static int places[BLOCKS_EACH], lengths[BLOCKS_EACH];
    int with = 0;
    for (int i = 0; i < BLOCKS_EACH; i++) {
        places[i] = 10 * i;
        lengths[i] = 1 + i % 5;
    }
    for (int i = 0; i < TYPES; i++) {
        MPI_Type_indexed(BLOCKS_EACH, lengths, places, MPI_INT, &types[i]);
        MPI_Type_commit(&types[i]);
        with += cco_runs_of(types[i]) != NULL;
    }
    CHECK(with > 50 && with < TYPES, "%d of %d types have runs", with, (int)TYPES);
    for (int i = 0; i < TYPES; i++)
        MPI_Type_free(&types[i]);
    MPI_Type_indexed(BLOCKS_EACH, lengths, places, MPI_INT, &types[0]);
    CHECK(cco_runs_of(types[0]) != NULL, "there is no room again");
    MPI_Type_free(&types[0]);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (int i = 0; i < REACH; i++)
        memory[i] = (char)(i * 37 + i / 251);
    test_bottom();
    test_handles();
    test_columns();
    test_sizes();
    test_bound();
    test_random(argc > 1 ? atoi(argv[1]) : 1500, argc > 2 ? atoi(argv[2]) : 1);
    MPI_Finalize();
    return testing_end("runs");
}
