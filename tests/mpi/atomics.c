/* SPDX-License-Identifier: BSD-3-Clause */
/* atomics.c - accumulates of several ranks and threads at once, in plain MPI: counters, a lock-free
 * stack, exclusive locks, fences, post-start-complete-wait, and what a program can ask of a window.
 * On windows whose accumulates may be ours, and on one whose accumulates are the MPI's.
 *
 *     atomics [ROUNDS]
 */
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>

#include "testing/testing.h"

enum { THREADS = 2, BYTES = 4096, UNIT = 8, NODES = 16 };

static int rounds = 200, rank, ranks, level;
static const char *const flavours[] = {"allocate", "shared", "create"};

typedef struct window {
    MPI_Win win;
    char *base;
    void *own; /* of the program, for MPI_Win_create */
    int flavour;
} window;

static window make(int which)
{
    window w = {.own = NULL};
    if (which == 0) {
        MPI_Win_allocate(BYTES, UNIT, MPI_INFO_NULL, MPI_COMM_WORLD, &w.base, &w.win);
    } else if (which == 1) {
        MPI_Win_allocate_shared(BYTES, UNIT, MPI_INFO_NULL, MPI_COMM_WORLD, &w.base, &w.win);
    } else {
        w.own = w.base = malloc(BYTES);
        MPI_Win_create(w.base, BYTES, UNIT, MPI_INFO_NULL, MPI_COMM_WORLD, &w.win);
    }
    w.flavour = (int[]){MPI_WIN_FLAVOR_ALLOCATE, MPI_WIN_FLAVOR_SHARED,
                        MPI_WIN_FLAVOR_CREATE}[which];
    return w;
}

static void clear(window *w)
{
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, w->win);
    memset(w->base, 0, BYTES);
    MPI_Win_unlock(rank, w->win);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Runs `body` on all ranks, on several threads where the MPI allows that. */
typedef struct job {
    window *w;
    int thread;
    int64_t got;
} job;

static void run(window *w, void *(*body)(void *), job jobs[THREADS], int *count)
{
    pthread_t threads[THREADS];
    /* Open MPI 4 may crash in the accumulates of several threads on a window over btl/vader. */
    *count = level == MPI_THREAD_MULTIPLE && w->own == NULL ? THREADS : 1;
    clear(w);
    MPI_Win_lock_all(0, w->win);
    for (int i = 0; i < *count; i++) {
        jobs[i] = (job){w, i, 0};
        if (i > 0)
            pthread_create(&threads[i], NULL, body, &jobs[i]);
    }
    body(&jobs[0]);
    for (int i = 1; i < *count; i++)
        pthread_join(threads[i], NULL);
    MPI_Win_unlock_all(w->win);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Counters of every width on every rank, side by side in one line. */
static void *count_up(void *argument)
{
    job *j = argument;
    MPI_Win win = j->w->win;
    const int8_t i8 = 1;
    const int16_t i16 = 1;
    const int32_t i32 = 1;
    const int64_t i64 = 1;
    const double r64 = 1;
    const long double wide = 1;
    for (int k = 0; k < rounds; k++)
        for (int to = 0; to < ranks; to++) {
            int64_t old = -1;
            MPI_Accumulate(&i8, 1, MPI_INT8_T, to, 0, 1, MPI_INT8_T, MPI_SUM, win);
            MPI_Accumulate(&i16, 1, MPI_INT16_T, to, 1, 1, MPI_INT16_T, MPI_SUM, win);
            MPI_Accumulate(&i32, 1, MPI_INT32_T, to, 2, 1, MPI_INT32_T, MPI_SUM, win);
            MPI_Fetch_and_op(&i64, &old, MPI_INT64_T, to, 3, MPI_SUM, win);
            MPI_Accumulate(&r64, 1, MPI_DOUBLE, to, 4, 1, MPI_DOUBLE, MPI_SUM, win);
            MPI_Accumulate(&wide, 1, MPI_LONG_DOUBLE, to, 6, 1, MPI_LONG_DOUBLE, MPI_SUM, win);
            MPI_Win_flush(to, win);
            j->got += old;
        }
    return NULL;
}

static void test_counters(window *w)
{
    job jobs[THREADS];
    int threads;
    int64_t mine = 0, sum = 0;
    run(w, count_up, jobs, &threads);
    const int64_t all = (int64_t)rounds * ranks * threads;
    CHECK(*(uint8_t *)w->base == (uint8_t)all, "int8: %d", *w->base);
    CHECK(*(int16_t *)(w->base + 8) == (int16_t)all, "int16: %d", *(int16_t *)(w->base + 8));
    CHECK(*(int32_t *)(w->base + 16) == all, "int32: %d", *(int32_t *)(w->base + 16));
    CHECK(*(int64_t *)(w->base + 24) == all, "int64: %ld", (long)*(int64_t *)(w->base + 24));
    CHECK(*(double *)(w->base + 32) == (double)all, "double: %g", *(double *)(w->base + 32));
    long double wide; /* an MPI aligns its memory to 8 bytes */
    memcpy(&wide, w->base + 48, sizeof wide);
    CHECK(wide == (long double)all, "long double: %Lg", wide);
    for (int i = 0; i < threads; i++)
        mine += jobs[i].got;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == ranks * (all * (all - 1) / 2), "each value was fetched once: %ld", (long)sum);
}

/* A stack of R. K. Treiber (1986) on rank 0: the head is a node and a count of changes, so that no
 * head comes back.  Word 0: the head; 1 + node: the next node; nodes count from 1. */
static int64_t load(MPI_Win win, MPI_Aint at)
{
    int64_t value = -1;
    MPI_Fetch_and_op(NULL, &value, MPI_INT64_T, 0, at, MPI_NO_OP, win);
    MPI_Win_flush(0, win);
    return value;
}

static void store(MPI_Win win, MPI_Aint at, int64_t value)
{
    MPI_Accumulate(&value, 1, MPI_INT64_T, 0, at, 1, MPI_INT64_T, MPI_REPLACE, win);
    MPI_Win_flush(0, win);
}

static int swing(MPI_Win win, int64_t from, int64_t node)
{
    const int64_t to = ((from >> 32) + 1) << 32 | node;
    int64_t found = ~from;
    MPI_Compare_and_swap(&to, &from, &found, MPI_INT64_T, 0, 0, win);
    MPI_Win_flush(0, win);
    return found == from;
}

static void push(MPI_Win win, int64_t node)
{
    int64_t head;
    do {
        head = load(win, 0);
        store(win, 1 + node, head & 0xffffffff);
    } while (!swing(win, head, node));
}

static int64_t pop(MPI_Win win)
{
    int64_t head, node;
    do {
        head = load(win, 0);
        node = head & 0xffffffff;
        if (node == 0)
            return 0;
    } while (!swing(win, head, load(win, 1 + node)));
    return node;
}

static void *use_stack(void *argument)
{
    job *j = argument;
    int64_t mine[NODES];
    const int64_t first = 1 + (rank * THREADS + j->thread) * NODES;
    for (int i = 0; i < NODES; i++)
        mine[i] = first + i;
    for (int k = 0; k < rounds; k++) {
        const int n = 1 + k % NODES;
        for (int i = 0; i < n; i++)
            push(j->w->win, mine[i]);
        for (int i = 0; i < n; i++)
            while ((mine[i] = pop(j->w->win)) == 0)
                ;
    }
    for (int i = 0; i < NODES; i++)
        j->got += mine[i] * mine[i];
    return NULL;
}

static void test_stack(window *w)
{
    job jobs[THREADS];
    int threads;
    int64_t mine = 0, sum = 0, expected = 0;
    run(w, use_stack, jobs, &threads);
    for (int i = 0; i < threads; i++)
        mine += jobs[i].got;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    for (int r = 0; r < ranks; r++)
        for (int64_t i = 0; i < threads * NODES; i++)
            expected += (1 + r * THREADS * NODES + i) * (1 + r * THREADS * NODES + i);
    CHECK(sum == expected, "every node is somebody's, once: %ld, not %ld", (long)sum,
          (long)expected);
}

/* Under an exclusive lock, to read and to write is one action: no other rank's operation may come
 * between, though the MPI may take the lock as late as it likes. */
static void test_exclusive(window *w)
{
    clear(w);
    for (int k = 0; k < rounds; k++) {
        const int to = k % ranks;
        int64_t value = 0;
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, w->win);
        MPI_Fetch_and_op(NULL, &value, MPI_INT64_T, to, 5, MPI_NO_OP, w->win);
        MPI_Win_flush(to, w->win);
        value++;
        MPI_Accumulate(&value, 1, MPI_INT64_T, to, 5, 1, MPI_INT64_T, MPI_REPLACE, w->win);
        MPI_Win_unlock(to, w->win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, w->win);
    const int64_t expected = (int64_t)(rounds / ranks + (rank < rounds % ranks)) * ranks;
    CHECK(*(int64_t *)(w->base + 40) == expected, "%ld, not %ld", (long)*(int64_t *)(w->base + 40),
          (long)expected);
    MPI_Win_unlock(rank, w->win);
}

/* What a target has stored before the epoch is there, and afterwards what others have done. */
static void test_fences(window *w)
{
    int64_t *mine = (int64_t *)(w->base + 56);
    const int to = (rank + 1) % ranks, from = (rank + ranks - 1) % ranks;
    clear(w);
    for (int k = 0; k < rounds; k++) {
        const int64_t add = 1000 * (rank + 1);
        int64_t old = -1;
        *mine = k + rank;
        MPI_Win_fence(k % 2 ? MPI_MODE_NOPRECEDE : 0, w->win);
        MPI_Get_accumulate(&add, 1, MPI_INT64_T, &old, 1, MPI_INT64_T, to, 7, 1, MPI_INT64_T,
                           MPI_SUM, w->win);
        MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win);
        CHECK(old == k + to, "round %d: %ld", k, (long)old);
        CHECK(*mine == k + rank + 1000 * (from + 1), "round %d: %ld", k, (long)*mine);
    }
}

static void test_exposure(window *w)
{
    int64_t *mine = (int64_t *)(w->base + 64);
    const int to = (rank + 1) % ranks, from = (rank + ranks - 1) % ranks;
    MPI_Group world, targets, origins;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &to, &targets);
    MPI_Group_incl(world, 1, &from, &origins);
    clear(w);
    for (int k = 0; k < rounds; k++) {
        const int64_t add = 1000 * (rank + 1);
        int64_t old = -1;
        *mine = k + rank;
        MPI_Win_post(origins, 0, w->win);
        MPI_Win_start(targets, 0, w->win);
        MPI_Fetch_and_op(&add, &old, MPI_INT64_T, to, 8, MPI_SUM, w->win);
        MPI_Win_complete(w->win);
        MPI_Win_wait(w->win);
        CHECK(old == k + to, "round %d: %ld", k, (long)old);
        CHECK(*mine == k + rank + 1000 * (from + 1), "round %d: %ld", k, (long)*mine);
    }
    MPI_Group_free(&world);
    MPI_Group_free(&targets);
    MPI_Group_free(&origins);
}

/* Who waits only by looks still lets the MPI move messages on: to rank 0, which looks until rank 1
 * sets a word, rank 1 first sends more than fits anywhere. */
static void test_progress(window *w)
{
    enum { MUCH = 4 << 20 };
    char *much = malloc(MUCH);
    MPI_Request request;
    clear(w);
    MPI_Win_lock_all(0, w->win);
    if (rank == 0) {
        MPI_Irecv(much, MUCH, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &request);
        while (load(w->win, 9) == 0)
            ;
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        memset(much, 0, MUCH);
        MPI_Send(much, MUCH, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
        store(w->win, 9, 1);
    }
    MPI_Win_unlock_all(w->win);
    MPI_Barrier(MPI_COMM_WORLD);
    free(much);
}

static void *attribute(MPI_Win win, int key)
{
    void *value = NULL;
    int there = 0;
    MPI_Win_get_attr(win, key, &value, &there);
    return there ? value : NULL;
}

static void test_attributes(window *w, int which)
{
    MPI_Aint size;
    int unit, *kind = attribute(w->win, MPI_WIN_CREATE_FLAVOR);
    void *base;
    CHECK(attribute(w->win, MPI_WIN_BASE) == w->base, "base");
    CHECK(*(MPI_Aint *)attribute(w->win, MPI_WIN_SIZE) == BYTES, "size");
    CHECK(*(int *)attribute(w->win, MPI_WIN_DISP_UNIT) == UNIT, "unit");
    CHECK(*kind == w->flavour, "flavour %d, not %d", *kind, w->flavour);
    CHECK(attribute(w->win, MPI_WIN_MODEL) != NULL, "model");
    if (which == 1) {
        MPI_Win_shared_query(w->win, rank, &size, &unit, &base);
        CHECK(base == w->base && size == BYTES && unit == UNIT, "shared query");
    }
}

/* The MPI still says what is wrong. */
static void test_wrong(window *w)
{
    int64_t one = 1, old;
    MPI_Win_set_errhandler(w->win, MPI_ERRORS_RETURN);
    MPI_Win_lock_all(0, w->win);
    CHECK(MPI_Fetch_and_op(&one, &old, MPI_INT64_T, ranks, 0, MPI_SUM, w->win) != MPI_SUCCESS,
          "a rank that is none");
    CHECK(MPI_Accumulate(&one, 1, MPI_INT64_T, MPI_PROC_NULL, 0, 1, MPI_INT64_T, MPI_SUM, w->win) ==
              MPI_SUCCESS,
          "nobody");
    CHECK(MPI_Accumulate(&one, -1, MPI_INT64_T, 0, 0, -1, MPI_INT64_T, MPI_SUM, w->win) !=
              MPI_SUCCESS,
          "a negative count");
    MPI_Win_unlock_all(w->win);
}

static void label(int which, const char *what)
{
    snprintf(testing_label, sizeof testing_label, "%s, %s", flavours[which], what);
}

int main(int argc, char **argv)
{
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    testing_rank = rank;
    testing_watchdog(60);
    if (argc > 1)
        rounds = atoi(argv[1]);
    for (int which = 0; which < LEN(flavours); which++) {
        window w = make(which);
        label(which, "attributes"), test_attributes(&w, which);
        label(which, "counters"), test_counters(&w);
        if (w.own == NULL) /* nor in many compare-and-swaps there */
            label(which, "stack"), test_stack(&w);
        label(which, "exclusive locks"), test_exclusive(&w);
        label(which, "progress"), test_progress(&w);
        label(which, "post and start"), test_exposure(&w);
        label(which, "wrong arguments"), test_wrong(&w);
        label(which, "fences"), test_fences(&w);
        MPI_Win_free(&w.win);
        free(w.own);
    }
    MPI_Finalize();
    return testing_end("atomics");
}
