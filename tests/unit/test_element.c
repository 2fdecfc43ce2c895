/* SPDX-License-Identifier: BSD-3-Clause */
/* test_element.c - window/element.c by several threads at once, which may run under the thread
 * sanitizer: counters of every width, elements that are no words, a lock-free stack, bits, maxima.
 */
#include <pthread.h>
#include <sched.h>

#include "testing/testing.h"
#include "window/element.h"

/* The sanitizer and libraries of an MPI may not get on: there is none, then. */
#if defined(WITHOUT_MPI)
void cco_pause(int *tries);
void cco_pause(int *tries)
{
    (void)tries;
    sched_yield();
}

int PMPI_Reduce_local(const void *in, void *inout, int count, MPI_Datatype type, MPI_Op op)
{
    (void)in, (void)inout, (void)count, (void)type, (void)op;
    abort();
}
#endif

enum { THREADS = 4, ROUNDS = 2000, NODES = 8, ROW = 5 };

static void sum_of_doubles(const void *a, const void *b, void *to, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double x, y;
        memcpy(&x, (const char *)a + i * sizeof x, sizeof x);
        memcpy(&y, (const char *)b + i * sizeof y, sizeof y);
        x += y;
        memcpy((char *)to + i * sizeof x, &x, sizeof x);
    }
}

static void sum_of_ints(const void *a, const void *b, void *to, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int32_t x, y;
        memcpy(&x, (const char *)a + i * sizeof x, sizeof x);
        memcpy(&y, (const char *)b + i * sizeof y, sizeof y);
        x += y;
        memcpy((char *)to + i * sizeof x, &x, sizeof x);
    }
}

static void most_of_longs(const void *a, const void *b, void *to, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const int64_t x = ((const int64_t *)a)[i], y = ((const int64_t *)b)[i];
        ((int64_t *)to)[i] = x > y ? x : y;
    }
}

static struct {
    int64_t i64, bits, most, head, next[1 + THREADS * NODES], row[ROW];
    int32_t i32;
    int16_t i16;
    int8_t i8;
    double number;
    char crooked[16]; /* an int at an odd address */
    cco_element_lock lock;
} shared;

#define OF(bytes, how) {.size = (bytes), .extent = (bytes), .change = CCO_CHANGE_##how}
static const cco_element add8 = OF(1, ADD), add16 = OF(2, ADD), add32 = OF(4, ADD),
                         add64 = OF(8, ADD), flip = OF(8, XOR), keep = OF(8, AND), set = OF(8, OR),
                         get = OF(8, NONE), put = OF(8, REPLACE);
static const cco_element most = {
    .size = 8, .extent = 8, .change = CCO_CHANGE_COMPUTE, .kernel = most_of_longs};
static const cco_element number = {
    .size = 8, .extent = 8, .number = true, .change = CCO_CHANGE_COMPUTE, .kernel = sum_of_doubles};
static const cco_element crooked = {
    .size = 4, .extent = 4, .change = CCO_CHANGE_ADD, .kernel = sum_of_ints};

static void change(const cco_element *e, void *target, const void *operand, void *result)
{
    cco_element_change(e, 1, target, operand, result, &shared.lock);
}

static int64_t load(int64_t *at)
{
    int64_t value = -1;
    change(&get, at, NULL, &value);
    return value;
}

static bool swing(int64_t from, int64_t node)
{
    const int64_t to = ((from >> 32) + 1) << 32 | node;
    int64_t found = ~from;
    cco_element_compare(8, &shared.head, &from, &to, &found, &shared.lock);
    return found == from;
}

static void push(int64_t node)
{
    int64_t head, next;
    do {
        head = load(&shared.head);
        next = head & 0xffffffff;
        change(&put, &shared.next[node], &next, NULL);
    } while (!swing(head, node));
}

static int64_t pop(void)
{
    int64_t head, node;
    do {
        head = load(&shared.head);
        node = head & 0xffffffff;
        if (node == 0)
            return 0;
    } while (!swing(head, load(&shared.next[node])));
    return node;
}

typedef struct work {
    int thread;
    int64_t old, nodes[NODES];
    bool bits_kept;
} work;

static void count(work *w, int k)
{
    const int8_t i8 = 1;
    const int16_t i16 = 1;
    const int32_t i32 = 1;
    const int64_t i64 = 1, row[ROW] = {1, 2, 3, 4, 5}, mine = w->thread * ROUNDS + k;
    const double d = 1;
    int64_t old = 0;
    change(&add8, &shared.i8, &i8, NULL);
    change(&add16, &shared.i16, &i16, NULL);
    change(&add32, &shared.i32, &i32, NULL);
    change(&add64, &shared.i64, &i64, &old);
    w->old += old;
    change(&number, &shared.number, &d, NULL);
    change(&crooked, shared.crooked + 1, &i32, NULL);
    change(&most, &shared.most, &mine, NULL);
    cco_element_change(&add64, ROW, shared.row, row, NULL, &shared.lock);
}

static void use_bits(work *w, int k)
{
    const int64_t bit = (int64_t)1 << (4 * w->thread + k % 4), others = ~bit;
    int64_t was = 0;
    change(&set, &shared.bits, &bit, &was);
    w->bits_kept = w->bits_kept && !(was & bit);
    change(&flip, &shared.bits, &bit, &was);
    w->bits_kept = w->bits_kept && (was & bit);
    change(&flip, &shared.bits, &bit, &was);
    w->bits_kept = w->bits_kept && !(was & bit);
    change(&keep, &shared.bits, &others, &was);
    w->bits_kept = w->bits_kept && (was & bit);
}

static void *thread_main(void *argument)
{
    work *w = argument;
    for (int i = 0; i < NODES; i++)
        w->nodes[i] = 1 + w->thread * NODES + i;
    for (int k = 0; k < ROUNDS; k++) {
        count(w, k);
        use_bits(w, k);
        for (int i = 0; i < 1 + k % NODES; i++)
            push(w->nodes[i]);
        for (int i = 0; i < 1 + k % NODES; i++)
            while ((w->nodes[i] = pop()) == 0)
                ;
    }
    return NULL;
}

static void test_results(const work *all)
{
    const int64_t n = THREADS * ROUNDS;
    int64_t old = 0, at;
    int32_t odd;
    bool seen[1 + THREADS * NODES] = {false};
    for (int t = 0; t < THREADS; t++) {
        old += all[t].old;
        CHECK(all[t].bits_kept, "bits of thread %d", t);
        for (int i = 0; i < NODES; i++) {
            at = all[t].nodes[i];
            CHECK(at >= 1 && at <= THREADS * NODES && !seen[at], "node %ld", (long)at);
            seen[at] = true;
        }
    }
    memcpy(&odd, shared.crooked + 1, sizeof odd);
    CHECK(old == n * (n - 1) / 2, "each value was fetched once: %ld", (long)old);
    CHECK(shared.i8 == (int8_t)n && shared.i16 == (int16_t)n && shared.i32 == n &&
              shared.i64 == n && odd == n,
          "%d %d %d %ld %d", shared.i8, shared.i16, shared.i32, (long)shared.i64, odd);
    CHECK(shared.number == (double)n, "%g", shared.number);
    CHECK(shared.most == n - 1, "%ld", (long)shared.most);
    CHECK(shared.bits == 0, "%lx", (unsigned long)shared.bits);
    for (int i = 0; i < ROW; i++)
        CHECK(shared.row[i] == n * (i + 1), "row %d: %ld", i, (long)shared.row[i]);
}

/* An int behind a double: what lies between one such pair and the next stays as it is. */
static void test_gaps(void)
{
    enum { PAIRS = 3, SIZE = 12, EXTENT = 16 };
    static const cco_element pair = {.size = SIZE, .extent = EXTENT, .change = CCO_CHANGE_REPLACE};
    char target[PAIRS * EXTENT], operand[sizeof target], result[sizeof target];
    memset(target, 1, sizeof target);
    memset(operand, 2, sizeof operand);
    memset(result, 3, sizeof result);
    cco_element_change(&pair, PAIRS, target, operand, result, &shared.lock);
    for (int i = 0; i < PAIRS * EXTENT; i++) {
        const bool gap = i % EXTENT >= SIZE;
        CHECK(target[i] == (gap ? 1 : 2) && result[i] == (gap ? 3 : 1), "byte %d: %d and %d", i,
              target[i], result[i]);
    }
}

int main(void)
{
    pthread_t threads[THREADS];
    work all[THREADS];
    testing_watchdog(30);
    for (int t = 0; t < THREADS; t++) {
        all[t] = (work){.thread = t, .bits_kept = true};
        pthread_create(&threads[t], NULL, thread_main, &all[t]);
    }
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    test_results(all);
    test_gaps();
    return testing_end("test_element");
}
