/* SPDX-License-Identifier: BSD-3-Clause */
/* atomics_types.c - where the elements of a target's datatype lie: datatypes of every constructor,
 * nested at random, against MPI_Pack; one whose extent is large and that has two elements; several
 * of one; and every allocation of an accumulate fails once: it must return an error, never go to
 * the MPI.
 *
 *     atomics_types [TYPES [SEED]]
 */
#include <stdbool.h>
#include <sys/resource.h>

#include "testing/testing.h"
#include "window/accumulate.h"
#include "window/element_map.h"

void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);

enum { FEW = 3, DEPTH = 3, WIDEST = 1 << 18, CONSTRUCTORS = 12 };

static long left = -1; /* allocations of ours until one fails; below 0: none will */
static unsigned state = 1;

static bool fails_now(void)
{
    return left >= 0 && left-- == 0;
}

void *__wrap_malloc(size_t n)
{
    return fails_now() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t count, size_t n)
{
    return fails_now() ? NULL : __real_calloc(count, n);
}

void *__wrap_realloc(void *old, size_t n)
{
    return fails_now() ? NULL : __real_realloc(old, n);
}

static int chance(int below)
{
    state = state * 1103515245u + 12345u;
    return (int)((state >> 8) % (unsigned)below);
}

/* A subarray, or a part of a distributed array. */
static void make_array(MPI_Datatype inner, bool distributed, MPI_Datatype *made)
{
    const int order = chance(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN, ranks[] = {2, 1, 1};
    const int how[] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_NONE};
    const int with[] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG,
                        MPI_DISTRIBUTE_DFLT_DARG};
    int sizes[FEW], parts[FEW], starts[FEW];
    for (int i = 0; i < FEW; i++) {
        sizes[i] = 2 + chance(2);
        parts[i] = 1 + chance(sizes[i]);
        starts[i] = chance(sizes[i] - parts[i] + 1);
    }
    if (distributed)
        MPI_Type_create_darray(2, chance(2), 1 + chance(FEW), sizes, how, with, ranks, order, inner,
                               made);
    else
        MPI_Type_create_subarray(1 + chance(FEW), sizes, parts, starts, order, inner, made);
}

#if MPI_VERSION >= 4
static void make_large(MPI_Datatype inner, MPI_Datatype *made)
{
    MPI_Count n[FEW], at[FEW], extent, low, sizes[] = {3, 4}, parts[] = {2, 2}, starts[] = {1, 1};
    MPI_Type_get_extent_c(inner, &low, &extent);
    for (int i = 0; i < FEW; i++) {
        n[i] = chance(FEW);
        at[i] = (i * FEW + chance(FEW)) * extent;
    }
    const MPI_Datatype both[] = {inner, inner, inner};
    switch (chance(6)) {
    case 0:
        MPI_Type_contiguous_c(1 + chance(FEW), inner, made);
        break;
    case 1:
        MPI_Type_vector_c(2, 1, 1 - chance(FEW), inner, made);
        break;
    case 2:
        MPI_Type_create_hindexed_c(FEW, n, at, inner, made);
        break;
    case 3:
        MPI_Type_create_hindexed_block_c(FEW, 1, at, inner, made);
        break;
    case 4:
        MPI_Type_create_struct_c(FEW, n, at, both, made);
        break;
    default:
        MPI_Type_create_subarray_c(2, sizes, parts, starts, MPI_ORDER_C, inner, made);
    }
}
#else
static void make_large(MPI_Datatype inner, MPI_Datatype *made)
{
    MPI_Type_dup(inner, made);
}
#endif

static void make_one(MPI_Datatype inner, MPI_Datatype *made)
{
    MPI_Aint low, extent, at[FEW];
    int n[FEW], places[FEW];
    MPI_Type_get_extent(inner, &low, &extent);
    for (int i = 0; i < FEW; i++) {
        n[i] = chance(FEW);
        places[i] = FEW * (FEW - 1 - i) - chance(2);
        at[i] = places[i] * extent + (i == 0 ? 8 : 0);
    }
    const MPI_Datatype both[] = {inner, MPI_INT, inner};
    switch (chance(CONSTRUCTORS)) {
    case 0:
        MPI_Type_contiguous(1 + chance(FEW), inner, made);
        break;
    case 1:
        MPI_Type_vector(1 + chance(FEW), 1 + chance(2), 2 - chance(5), inner, made);
        break;
    case 2:
        MPI_Type_create_hvector(2, 1 + chance(2), 4 * (10 - chance(20)), inner, made);
        break;
    case 3:
        MPI_Type_indexed(FEW, n, places, inner, made);
        break;
    case 4:
        MPI_Type_create_hindexed(FEW, n, at, inner, made);
        break;
    case 5:
        MPI_Type_create_indexed_block(FEW, 2, places, inner, made);
        break;
    case 6:
        MPI_Type_create_hindexed_block(FEW, 2, at, inner, made);
        break;
    case 7:
        MPI_Type_create_resized(inner, 4 * (chance(4) - 2), extent + 4 * chance(4), made);
        break;
    case 8:
        MPI_Type_create_struct(FEW, n, at, both, made);
        break;
    case 9:
        make_large(inner, made);
        break;
    default:
        make_array(inner, chance(2), made);
    }
}

static MPI_Datatype make(int depth)
{
    MPI_Datatype made, inner = MPI_INT;
    for (int i = 0; i < depth; i++) {
        make_one(inner, &made);
        if (inner != MPI_INT)
            MPI_Type_free(&inner);
        inner = made;
    }
    MPI_Type_commit(&made);
    return made;
}

/* Ints that say where they are, packed. */
static void check_places(MPI_Datatype type)
{
    static int memory[WIDEST], packed[WIDEST];
    const cco_element_map *map;
    MPI_Aint first, extent;
    int size, position = 0;
    MPI_Type_size(type, &size);
    MPI_Type_get_true_extent(type, &first, &extent);
    if (size > (int)sizeof packed || extent > (MPI_Aint)sizeof memory)
        return;
    CHECK(cco_element_map_of(type, &map) == MPI_SUCCESS, "an error");
    CHECK(size == 0 ? map == NULL : map != NULL, "%d bytes: a map or none", size);
    if (map == NULL)
        return;
    for (int i = 0; i < WIDEST; i++)
        memory[i] = (int)sizeof(int) * i;
    MPI_Pack((char *)memory - first, 1, type, packed, sizeof packed, &position, MPI_COMM_SELF);
    CHECK(map->basic == MPI_INT && map->elements == (size_t)size / sizeof(int), "%zu elements",
          map->elements);
    size_t k = 0, wrong = 0;
    for (size_t r = 0; r < map->count; r++)
        for (size_t i = 0; i < map->runs[r].length; i++, k++)
            wrong += map->runs[r].at + (MPI_Aint)(i * sizeof(int)) != first + packed[k];
    CHECK(k == map->elements && wrong == 0, "%zu of %zu elements elsewhere", wrong, k);
}

static void test_places(int types)
{
    for (int i = 0; i < types; i++) {
        snprintf(testing_label, sizeof testing_label, "type %d", i);
        MPI_Datatype type = make(1 + i % DEPTH);
        check_places(type);
        MPI_Type_free(&type);
    }
}

static long memory_used(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss; /* KiB */
}

/* Memory grows neither with what lies between elements nor with their number in a row. */
static void test_sparse(void)
{
    enum { STRIDE = 1 << 25 };
    MPI_Datatype type;
    const cco_element_map *map;
    snprintf(testing_label, sizeof testing_label, "sparse");
    MPI_Type_vector(2, 1, STRIDE, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    const long before = memory_used();
    CHECK(cco_element_map_of(type, &map) == MPI_SUCCESS && map != NULL && map->count == 2 &&
              map->runs[0].at == 0 && map->runs[1].at == STRIDE * (MPI_Aint)sizeof(double),
          "places");
    MPI_Type_free(&type);
    snprintf(testing_label, sizeof testing_label, "long");
    MPI_Type_contiguous(STRIDE, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    CHECK(cco_element_map_of(type, &map) == MPI_SUCCESS && map != NULL && map->count == 1 &&
              map->elements == STRIDE,
          "one run");
    CHECK(memory_used() - before < 64 << 10, "%ld KiB more", memory_used() - before);
    MPI_Type_free(&type);
}

/* A window of this rank alone. */
static cco_shared_window *window_on(char *share, size_t bytes, cco_element_lock *locks)
{
    cco_shared_window *w = calloc(1, sizeof *w + sizeof w->shares[0]);
    w->ranks = 1;
    w->locks = locks;
    w->shares[0] = (cco_window_share){share, bytes, 1};
    return w;
}

/* Several of a datatype follow one another by its extent. */
static void test_several(void)
{
    enum { SEVERAL = 4, INTS = 3 * SEVERAL };
    int share[INTS] = {0}, numbers[2 * SEVERAL], rc = MPI_ERR_OTHER;
    cco_element_lock locks = {.held = 0};
    cco_shared_window *w = window_on((char *)share, sizeof share, &locks);
    MPI_Datatype first_and_third;
    MPI_Type_vector(2, 1, 2, MPI_INT, &first_and_third);
    MPI_Type_commit(&first_and_third);
    for (int i = 0; i < 2 * SEVERAL; i++)
        numbers[i] = i + 1;
    const cco_accumulate a = {.origin = {numbers, 2 * SEVERAL, MPI_INT},
                              .count = SEVERAL,
                              .type = first_and_third,
                              .op = MPI_SUM};
    snprintf(testing_label, sizeof testing_label, "%d of a datatype", SEVERAL);
    CHECK(cco_accumulate_all(w, &a, &rc) && rc == MPI_SUCCESS, "error %d", rc);
    for (int i = 0; i < INTS; i++) {
        const int expected = i % 3 == 1 ? 0 : 2 * (i / 3) + i % 3 / 2 + 1;
        CHECK(share[i] == expected, "%d: %d, not %d", i, share[i], expected);
    }
    MPI_Type_free(&first_and_third);
    free(w);
}

static void test_no_memory(void)
{
    char share[256] = {0};
    int result[16], ones[16], rc = MPI_ERR_NO_MEM, k = 0;
    cco_element_lock locks = {.held = 0};
    cco_shared_window *w = window_on(share, sizeof share, &locks);
    MPI_Datatype type, every_second;
    MPI_Type_vector(4, 2, 4, MPI_INT, &type);
    MPI_Type_vector(8, 1, 2, MPI_INT, &every_second);
    MPI_Type_commit(&type);
    MPI_Type_commit(&every_second);
    for (int i = 0; i < 16; i++)
        ones[i] = result[i] = 1;
    for (; rc != MPI_SUCCESS && k < 100; k++) {
        const cco_accumulate a = {.origin = {ones, 1, every_second},
                                  .result = {result, 1, every_second},
                                  .fetches = true,
                                  .count = 1,
                                  .type = type,
                                  .op = MPI_SUM};
        snprintf(testing_label, sizeof testing_label, "allocation %d fails", k);
        left = k;
        CHECK(cco_accumulate_all(w, &a, &rc), "it went to the MPI");
        left = -1;
        CHECK(rc == MPI_SUCCESS || (rc == MPI_ERR_NO_MEM && share[0] == 0), "error %d", rc);
    }
    for (int i = 0; i < 16; i++)
        CHECK(result[i] == i % 2, "result %d: %d", i, result[i]);
    CHECK(k > 5 && rc == MPI_SUCCESS, "%d allocations", k);
    MPI_Type_free(&type);
    MPI_Type_free(&every_second);
    free(w);
}

/* What no MPI computes is the MPI's to refuse. */
static void test_refused(void)
{
    CHECK(cco_element_of(MPI_2INT, MPI_SUM) == NULL, "a sum of pairs");
    CHECK(cco_element_of(MPI_C_BOOL, MPI_SUM) == NULL, "a sum of logical values");
    CHECK(cco_element_of(MPI_BYTE, MPI_SUM) == NULL, "a sum of bytes");
    CHECK(cco_element_of(MPI_CHAR, MPI_MAXLOC) == NULL, "the place of a character");
    CHECK(cco_element_of(MPI_2INT, MPI_MAXLOC) != NULL, "the place of a maximum");
    CHECK(cco_element_of(MPI_CHAR, MPI_BOR) != NULL, "bits of a character");
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    testing_watchdog(60);
    state = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
    test_places(argc > 1 ? atoi(argv[1]) : 300);
    test_sparse();
    test_several();
    test_no_memory();
    test_refused();
    MPI_Finalize();
    return testing_end("atomics_types");
}
