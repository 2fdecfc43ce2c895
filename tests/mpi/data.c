/* SPDX-License-Identifier: BSD-3-Clause */
/* data.c - datatypes as bytes (src/call/data.h): which are dense, packing at MPI_BOTTOM, types for
 * counts that no int says.
 *
 *     data [huge] */
#include "call/data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testing/testing.h"

enum { N = 23 };

static MPI_Datatype committed(MPI_Datatype type)
{
    MPI_Type_commit(&type);
    return type;
}

static MPI_Datatype vector_type(int count, int block, int stride)
{
    MPI_Datatype type;
    MPI_Type_vector(count, block, stride, MPI_INT, &type);
    return committed(type);
}

static MPI_Datatype contiguous(int count, MPI_Datatype of)
{
    MPI_Datatype type;
    MPI_Type_contiguous(count, of, &type);
    return committed(type);
}

/* Two ints, the second first: no gaps, but out of order. */
static MPI_Datatype swapped(void)
{
    MPI_Datatype type;
    MPI_Type_indexed(2, (const int[]){1, 1}, (const int[]){1, 0}, MPI_INT, &type);
    return committed(type);
}

static void check_dense(const char *what, MPI_Datatype type, bool dense)
{
    CHECK(cco_type_dense(type) == dense, "%s", what);
    if (type != MPI_DATATYPE_NULL && !cco_type_predefined(type))
        MPI_Type_free(&type);
}

static void test_dense(void)
{
    MPI_Datatype three = contiguous(3, MPI_DOUBLE), twice = contiguous(2, three), copy;
    MPI_Type_dup(MPI_INT, &copy);
    check_dense("int", MPI_INT, true);
    check_dense("double and int", MPI_DOUBLE_INT, false);
    check_dense("no type", MPI_DATATYPE_NULL, false);
    check_dense("contiguous", three, true);
    check_dense("contiguous of contiguous", twice, true);
    check_dense("duplicate", committed(copy), true);
    check_dense("contiguous of gaps", contiguous(2, MPI_DOUBLE_INT), false);
    check_dense("every other int", vector_type(2, 1, 2), false);
    check_dense("swapped", swapped(), false);
}

/* Packs elements that are known by their absolute address. */
static void test_bottom(void)
{
    int from[4] = {1, 2, 3, 4}, packed[2] = {0, 0};
    MPI_Aint at;
    MPI_Datatype type;
    MPI_Get_address(from, &at);
    MPI_Type_create_hindexed(2, (const int[]){1, 1},
                             (const MPI_Aint[]){at + 3 * (MPI_Aint)sizeof(int), at}, MPI_INT,
                             &type);
    type = committed(type);
    CHECK(cco_type_pack((char *)packed, MPI_BOTTOM, 1, type) == MPI_SUCCESS, "pack");
    CHECK(packed[0] == 4 && packed[1] == 1, "%d %d", packed[0], packed[1]);
    packed[0] = 40;
    CHECK(cco_type_unpack(MPI_BOTTOM, 1, type, (char *)packed) == MPI_SUCCESS, "unpack");
    CHECK(from[3] == 40 && from[0] == 1 && from[1] == 2, "%d %d %d", from[0], from[1], from[3]);
    MPI_Type_free(&type);
    CHECK(cco_type_pack((char *)packed, from, 1, MPI_DATATYPE_NULL) == MPI_ERR_TYPE, "no type");
}

/* `count` elements as one element of a wide type, for pieces of `limit`. */
static void check_wide(MPI_Datatype type, size_t count, size_t limit)
{
    static int from[8 * N], to[8 * N], same[8 * N];
    MPI_Datatype wide;
    MPI_Count size, one;
    for (int i = 0; i < 8 * N; i++)
        from[i] = 1000 + i;
    memset(to, 0, sizeof to);
    memset(same, 0, sizeof same);
    CHECK(cco_wide_type(count, type, limit, &wide) == MPI_SUCCESS, "%zu by %zu", count, limit);
    MPI_Type_size_x(wide, &size);
    MPI_Type_size_x(type, &one);
    CHECK(size == one * (MPI_Count)count, "%zu by %zu: size %lld", count, limit, (long long)size);
    MPI_Sendrecv(from, 1, wide, 0, 0, to, 1, wide, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Sendrecv(from, (int)count, type, 0, 0, same, (int)count, type, 0, 0, MPI_COMM_SELF,
                 MPI_STATUS_IGNORE);
    CHECK(memcmp(to, same, sizeof to) == 0, "%zu elements by %zu", count, limit);
    MPI_Type_free(&wide);
}

static void test_wide(void)
{
    MPI_Datatype gaps = vector_type(2, 1, 3);
    for (size_t count = 0; count <= N; count++)
        for (size_t limit = 1; limit <= 6; limit++) {
            check_wide(MPI_INT, count, limit);
            check_wide(gaps, count, limit);
        }
    MPI_Type_free(&gaps);
}

/* The way of elements that MPI_Pack cannot count, with small ones: equal to MPI_Pack's. */
static void check_huge(const char *name, MPI_Datatype type)
{
    static int from[8 * N], to[8 * N], same[8 * N];
    char packed[sizeof from] = "", expected[sizeof from] = "";
    MPI_Request request;
    int word = 0, flag = 0;
    for (int i = 0; i < 8 * N; i++)
        from[i] = 1000 + i;
    memset(to, 0, sizeof to);
    memset(same, 0, sizeof same);
    MPI_Irecv(&word, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &request);
    CHECK(cco_type_pack(expected, from, 1, type) == MPI_SUCCESS, "%s: pack", name);
    CHECK(cco_type_move_huge(packed, from, type, false) == MPI_SUCCESS, "%s: pack", name);
    CHECK(memcmp(packed, expected, sizeof packed) == 0, "%s: packed", name);
    CHECK(cco_type_unpack(same, 1, type, packed) == MPI_SUCCESS, "%s: unpack", name);
    CHECK(cco_type_move_huge(packed, to, type, true) == MPI_SUCCESS, "%s: unpack", name);
    CHECK(memcmp(to, same, sizeof to) == 0, "%s: unpacked", name);
    MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    CHECK(!flag, "%s: the program's receive stays its own", name);
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void test_huge(void)
{
    check_huge("int", MPI_INT);
    check_huge("double and int", MPI_DOUBLE_INT);
    MPI_Datatype vector = vector_type(5, 2, 7), other = swapped();
    check_huge("vector", vector);
    check_huge("swapped", other);
    MPI_Type_free(&vector);
    MPI_Type_free(&other);
}

/* Two blocks of 1.2 GB: 5 GB of memory in all, so only when asked for. */
static void test_really_huge(void)
{
    enum { BLOCK = 1200000000, STRIDE = 1300000000 };
    MPI_Datatype type;
    char *from = malloc((size_t)BLOCK + STRIDE), *packed = malloc(2 * (size_t)BLOCK);
    MPI_Type_vector(2, BLOCK, STRIDE, MPI_BYTE, &type);
    type = committed(type);
    memset(from, 1, STRIDE);
    memset(from + STRIDE, 2, BLOCK);
    CHECK(cco_type_pack(packed, from, 1, type) == MPI_SUCCESS, "pack");
    CHECK(packed[0] == 1 && packed[BLOCK - 1] == 1, "the first block");
    CHECK(packed[BLOCK] == 2 && packed[2 * (size_t)BLOCK - 1] == 2, "the second block");
    memset(packed, 3, 2 * (size_t)BLOCK);
    CHECK(cco_type_unpack(from, 1, type, packed) == MPI_SUCCESS, "unpack");
    CHECK(from[0] == 3 && from[BLOCK - 1] == 3 && from[BLOCK] == 1, "the first block");
    CHECK(from[STRIDE] == 3 && from[STRIDE + (size_t)BLOCK - 1] == 3, "the second block");
    MPI_Type_free(&type);
    free(from);
    free(packed);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    test_dense();
    test_bottom();
    test_wide();
    test_huge();
    if (argc > 1 && strcmp(argv[1], "huge") == 0)
        test_really_huge();
    MPI_Finalize();
    return testing_end("data");
}
