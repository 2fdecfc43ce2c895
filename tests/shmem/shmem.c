/* SPDX-License-Identifier: BSD-3-Clause */
/* shmem.c - OpenSHMEM on the ranks of a node: the symmetric heap, puts and gets, waits, atomics,
 * both forms of broadcast, the other collectives, teams and active sets.
 *
 *     shmem */
#include <time.h>

#include <crestacoll_shmem.h>

#include "testing/testing.h"

enum { MOST = 3000 };

static int me, pes;

static void come_late(int turn)
{
    if (turn % pes == me)
        nanosleep(&(struct timespec){.tv_nsec = 1000 * 1000}, NULL);
}

static void test_heap(void)
{
    enum { BLOCKS = 40, LARGE = 5 << 20 };
    char *block[BLOCKS];
    snprintf(testing_label, sizeof testing_label, "heap");
    for (int turn = 0; turn < 3; turn++) {
        for (int i = 0; i < BLOCKS; i++) {
            const size_t n = (size_t)(1 + i * 977 % 9000);
            block[i] = i % 3 == 1 ? shmem_align(1024, n) : shmem_malloc(n);
            CHECK(block[i] != NULL && (uintptr_t)block[i] % (i % 3 == 1 ? 1024 : 64) == 0,
                  "block %d: %p", i, (void *)block[i]);
            memset(block[i], me + i, n);
        }
        shmem_barrier_all();
        for (int i = 0; i < BLOCKS; i++) { /* no two overlap, and others see them */
            const char *there = shmem_ptr(block[i], (me + 1) % pes);
            const size_t n = (size_t)(1 + i * 977 % 9000);
            CHECK(there != NULL && there[0] == (char)((me + 1) % pes + i) &&
                      there[n - 1] == there[0] && block[i][n - 1] == (char)(me + i),
                  "block %d seen from the PE before", i);
        }
        for (int i = turn % 2; i < BLOCKS; i += 2)
            shmem_free(block[i]);
        for (int i = 1 - turn % 2; i < BLOCKS; i += 2)
            shmem_free(block[i]);
    }
    long *large = shmem_calloc(LARGE / sizeof *large, sizeof *large);
    long *other = shmem_malloc(LARGE);
    CHECK(large != NULL && large[LARGE / sizeof *large - 1] == 0 && other != NULL, "5 MiB");
    large[7] = me;
    other = shmem_realloc(other, 2 * LARGE);
    large = shmem_realloc(large, 100);
    CHECK(shmem_long_g(&large[7], (me + 1) % pes) == (me + 1) % pes, "kept by realloc");
    shmem_free(other);
    shmem_free(large);
    CHECK(shmem_malloc(0) == NULL && shmem_malloc((size_t)-1 / 4) == NULL, "no such block");
    CHECK(shmem_ptr(&me, (me + 1) % pes) == NULL && !shmem_addr_accessible(&me, (me + 1) % pes),
          "a static variable is not seen");
}

static void test_transfers(void)
{
    const int next = (me + 1) % pes, before = (me - 1 + pes) % pes;
    double *data = shmem_calloc(100, sizeof *data), mine[100], got[100];
    long *word = shmem_calloc(8, sizeof *word);
    uint64_t *signal = shmem_calloc(1, sizeof *signal);
    snprintf(testing_label, sizeof testing_label, "transfers");
    for (int i = 0; i < 100; i++)
        mine[i] = me * 1000 + i;
    shmem_double_put(data, mine, 50, next);
    shmem_put64(data + 50, mine + 50, 50, next);
    shmem_barrier_all();
    CHECK(data[0] == before * 1000 && data[99] == before * 1000 + 99, "put: %g", data[99]);
    shmem_double_get(got, data, 100, next);
    CHECK(memcmp(got, mine, sizeof got) == 0, "get of what was put");
    shmem_barrier_all();
    mine[0] = -me;
    shmem_put_signal(data, mine, 1, signal, 5, SHMEM_SIGNAL_ADD, next);
    CHECK(shmem_signal_wait_until(signal, SHMEM_CMP_GE, 5) == 5 && data[0] == -before, "signal");
    shmem_long_p(word, 1000 + me, next);
    shmem_long_wait_until(word, SHMEM_CMP_NE, 0);
    CHECK(word[0] == 1000 + before && shmem_g(word, next) == 1000 + me, "p and g: %ld", word[0]);
    for (int i = 0; i < 1000; i++)
        shmem_long_atomic_add(word + 1, i % 3, 0);
    shmem_atomic_inc(word + 2, 0);
    const long ticket = shmem_long_atomic_fetch_inc(word + 3, 0);
    shmem_long_atomic_compare_swap(word + 4, 0, me + 1, 0);
    shmem_barrier_all();
    if (me == 0)
        CHECK(word[1] == 999L * pes && word[2] == pes && word[3] == pes && word[4] >= 1 &&
                  word[4] <= pes,
              "sums of all: %ld %ld %ld", word[1], word[2], word[3]);
    CHECK(ticket >= 0 && ticket < pes && shmem_long_atomic_fetch(word + 2, 0) == pes, "ticket");
    shmem_free(signal);
    shmem_free(word);
    shmem_free(data);
}

/* Fills n bytes with what the root of a turn gives. */
static void fill(unsigned char *data, size_t n, int turn)
{
    for (size_t i = 0; i < n; i++)
        data[i] = (unsigned char)(turn * 31 + (int)i * 7);
}

static int filled(const unsigned char *data, size_t n, int turn)
{
    for (size_t i = 0; i < n; i++)
        if (data[i] != (unsigned char)(turn * 31 + (int)i * 7))
            return 0;
    return 1;
}

/* Both forms of broadcast; 8 bytes behind the data stay as they are. */
static void test_broadcast(shmem_team_t team)
{
    static const size_t sizes[] = {0, 1, 8, 55, 56, 57, 64, 120, 1000, 2048, 2049, MOST};
    const int rank = shmem_team_my_pe(team), size = shmem_team_n_pes(team);
    unsigned char source[MOST], dest[MOST + 8], old[MOST + 8];
    memset(old, 0xee, sizeof old);
    for (int turn = 0; turn < LEN(sizes) * size; turn++) {
        const size_t n = sizes[turn % LEN(sizes)];
        const int root = turn / LEN(sizes);
        snprintf(testing_label, sizeof testing_label, "broadcast of %zu bytes from %d of %d", n,
                 root, size);
        fill(source, n, rank == root ? turn : turn + 1);
        memcpy(dest, old, sizeof dest);
        if (turn % 3 == 0)
            come_late(turn);
        CHECK(shmem_broadcastmem(team, dest, source, n, root) == 0, "it fails");
        CHECK(filled(dest, n, turn) && memcmp(dest + n, old, 8) == 0, "team form");
    }
}

/* Many in a row with late receivers: slots are reused; pSync in turn. */
static void test_active_broadcast(void)
{
    static long sync[2][SHMEM_BCAST_SYNC_SIZE];
    long *dest = shmem_calloc(1000, sizeof *dest), source[8];
    snprintf(testing_label, sizeof testing_label, "active set");
    for (int i = 0; i < 2; i++)
        sync[i][0] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    for (int turn = 0; turn < 100; turn++) {
        const int root = turn / 50 % pes;
        for (int k = 0; k < 8; k++)
            source[k] = root == me ? turn * 10 + k : -1;
        dest[turn * 8] = -5;
        if (turn % 20 == 0)
            come_late(turn / 20);
        shmem_broadcast64(dest + turn * 8, source, 8, root, 0, 0, pes, sync[turn % 2]);
        if (me == root)
            CHECK(dest[turn * 8] == -5 && dest[turn * 8 + 7] == 0, "the root's target is written");
        else
            CHECK(dest[turn * 8] == turn * 10 && dest[turn * 8 + 7] == turn * 10 + 7,
                  "turn %d: %ld", turn, dest[turn * 8]);
        CHECK(sync[turn % 2][0] == SHMEM_SYNC_VALUE, "pSync is what it was");
    }
    for (int turn = 0; turn < 20 && me % 2 == 0; turn++) { /* every other PE; the root's place */
        const int size = (pes + 1) / 2, root = turn % size;
        int32_t from[2] = {turn, me}, to[2] = {-1, -1};
        shmem_broadcast32(to, from, 2, root, 0, 1, size, sync[turn % 2]);
        CHECK(me == 2 * root ? to[0] == -1 : to[0] == turn && to[1] == 2 * root,
              "set of every other PE: %d %d", to[0], to[1]);
    }
    shmem_free(dest);
}

static void test_collectives(shmem_team_t team)
{
    const int rank = shmem_team_my_pe(team), size = shmem_team_n_pes(team);
    int *dest = malloc(sizeof(int) * (size_t)(size * size * 8 + 64));
    int *source = malloc(sizeof(int) * (size_t)(size * 8 + 64));
    snprintf(testing_label, sizeof testing_label, "collectives of %d", size);
    for (int i = 0; i < size * 8; i++)
        source[i] = rank * 1000 + i;
    CHECK(shmem_int_fcollect(team, dest, source, 3) == 0, "fcollect");
    for (int i = 0; i < size; i++)
        CHECK(dest[3 * i + 2] == i * 1000 + 2, "fcollect, block %d", i);
    CHECK(shmem_int_collect(team, dest, source, (size_t)rank) == 0, "collect");
    for (int i = 0, at = 0; i < size; at += i++)
        CHECK(i == 0 || dest[at + i - 1] == i * 1000 + i - 1, "collect, block %d", i);
    CHECK(shmem_int_alltoall(team, dest, source, 2) == 0, "alltoall");
    for (int i = 0; i < size; i++)
        CHECK(dest[2 * i + 1] == i * 1000 + 2 * rank + 1, "alltoall, block %d", i);
    CHECK(shmem_int_alltoalls(team, dest, source, 3, 2, 2) == 0, "alltoalls");
    for (int i = 0; i < 2 * size; i++)
        CHECK(dest[3 * i] == i / 2 * 1000 + 2 * (2 * rank + i % 2), "alltoalls, element %d", i);
    CHECK(shmem_int_sum_reduce(team, dest, source, 5) == 0 &&
              shmem_max_reduce(team, dest + 5, source, 2) == 0,
          "reductions");
    CHECK(dest[4] == 1000 * (size * (size - 1) / 2) + 4 * size && dest[6] == (size - 1) * 1000 + 1,
          "sum %d, max %d", dest[4], dest[6]);
    CHECK(shmem_int_min_reduce(team, source, source, 4) == 0 && source[3] == 3, "in place");
    free(source);
    free(dest);
}

static void test_active_collectives(void)
{
    static long sync[SHMEM_REDUCE_SYNC_SIZE] = {SHMEM_SYNC_VALUE};
    double from[2] = {me, 1}, to[2] = {0}, work[SHMEM_REDUCE_MIN_WRKDATA_SIZE];
    int64_t all[64];
    const int64_t mine = me * 7;
    snprintf(testing_label, sizeof testing_label, "collectives of active sets");
    shmem_barrier(0, 0, pes, sync);
    shmem_double_sum_to_all(to, from, 2, 0, 0, pes, work, sync);
    CHECK(to[0] == pes * (pes - 1) / 2 && to[1] == pes, "sum_to_all: %g", to[0]);
    shmem_fcollect64(all, &mine, 1, 0, 0, pes, sync);
    CHECK(all[pes - 1] == (pes - 1) * 7, "fcollect64");
    shmem_sync(0, 0, pes, sync);
    if (me > 0) { /* all but the first */
        const int first = 1;
        shmem_collect64(all, &mine, me % 2 ? 1 : 0, first, 0, pes - 1, sync);
        CHECK(pes < 2 || all[0] == 7, "collect64");
        shmem_sync(first, 0, pes - 1, sync);
    }
}

static void test_teams(void)
{
    shmem_team_t odd, rows, columns, none = SHMEM_TEAM_WORLD;
    snprintf(testing_label, sizeof testing_label, "teams");
    const int size = pes / 2;
    if (size > 0) {
        CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 1, 2, size, NULL, 0, &odd) == 0, "split");
        CHECK((odd != SHMEM_TEAM_INVALID) == (me % 2 == 1), "who is in it");
        if (odd != SHMEM_TEAM_INVALID) {
            CHECK(shmem_team_my_pe(odd) == me / 2 && shmem_team_n_pes(odd) == size &&
                      shmem_team_translate_pe(odd, 0, SHMEM_TEAM_WORLD) == 1 &&
                      shmem_team_translate_pe(SHMEM_TEAM_WORLD, 0, odd) == -1,
                  "numbers");
            test_broadcast(odd);
            test_collectives(odd);
            CHECK(shmem_team_sync(odd) == 0, "sync");
            shmem_team_destroy(odd);
        }
    }
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, pes + 1, NULL, 0, &none) != 0 &&
              none == SHMEM_TEAM_INVALID && shmem_team_my_pe(none) == -1,
          "too large");
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, pes - 1, -1, pes, NULL, 0, &none) == 0 &&
              shmem_team_my_pe(none) == pes - 1 - me,
          "a negative stride");
    CHECK(shmem_team_split_2d(SHMEM_TEAM_WORLD, 2, NULL, 0, &rows, NULL, 0, &columns) == 0 &&
              shmem_team_my_pe(rows) == me % 2 && shmem_team_my_pe(columns) == me / 2,
          "2d");
    test_broadcast(columns);
    shmem_sync(rows);
    shmem_team_destroy(rows); /* the others are left to shmem_finalize */
}

static void test_all(void)
{
    me = shmem_my_pe();
    pes = shmem_n_pes();
    test_heap();
    test_transfers();
    test_broadcast(SHMEM_TEAM_WORLD);
    test_active_broadcast();
    test_collectives(SHMEM_TEAM_WORLD);
    test_active_collectives();
    test_teams();
}

/* On the upper ranks only, without the last one. */
static void test_communicator(void)
{
    int rank, size;
    MPI_Comm part;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_split(MPI_COMM_WORLD, rank > 0, -rank, &part);
    CHECK(CRESTA_Shmem_init(part) == MPI_SUCCESS && CRESTA_Shmem_init(part) == MPI_ERR_OTHER,
          "on a communicator, once");
    MPI_Comm_free(&part);
    CHECK(shmem_n_pes() == (rank > 0 ? size - 1 : 1), "%d PEs", shmem_n_pes());
    test_all();
    shmem_finalize();
}

int main(int argc, char **argv)
{
    int level;
    testing_watchdog(60);
    MPI_Init(&argc, &argv);
    test_communicator();
    CHECK(CRESTA_Shmem_init(MPI_COMM_NULL) == MPI_ERR_COMM, "no communicator");
    CHECK(shmem_init_thread(SHMEM_THREAD_SINGLE, &level) == 0, "on all ranks");
    testing_rank = shmem_my_pe();
    test_all();
    shmem_query_thread(&level);
    CHECK(level >= SHMEM_THREAD_SINGLE, "level %d", level);
    shmem_finalize();
    MPI_Finalize();
    return testing_end("shmem");
}
