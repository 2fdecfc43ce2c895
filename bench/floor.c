/* SPDX-License-Identifier: BSD-3-Clause */
/* floor.c - crestacoll-floor: what two processes of this machine cannot go below.
 *
 *     crestacoll-floor [SAMPLES]        two processes, no launcher
 *
 * exchange: both write a cache line of their own and read the other's, one round after the other:
 *           no collective of two ranks in which each needs something of the other is faster.
 * copy:     both copy what the other has just written, at the same time.
 *
 * Each process keeps to a core of its own, the first two that it may use; with one core they take
 * turns.  JSON lines: a header, a record for each size with microseconds, and an end. */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pause.h"
#include "quantile.h"

enum { SAMPLES = 400, MOST = 10000, ROUNDS = 1000, LINE = 128, SIZES = 4 };

static const size_t sizes[SIZES] = {4 << 10, 32 << 10, 256 << 10, 2 << 20};

/* A cache line, and its neighbour, which processors like to fetch with it. */
typedef struct line {
    volatile uint64_t round;
    char rest[LINE - sizeof(uint64_t)];
} line;

/* What both see. */
typedef struct shared {
    line lines[2];
    int wrong[2];
    double us[2][MOST];
    char data[2][2 << 20];
} shared;

static shared *common;
static char copied[2 << 20];
static uint64_t now_at; /* the round under way */
static int me, alone;   /* 0 or 1; there is one core for both */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static void pause_briefly(void)
{
    if (alone)
        sched_yield();
    bench_pause_look();
}

/* Writes our line and waits for the other's. */
static void exchange(void)
{
    const uint64_t round = ++now_at;
    __atomic_store_n(&common->lines[me].round, round, __ATOMIC_RELEASE);
    while (__atomic_load_n(&common->lines[1 - me].round, __ATOMIC_ACQUIRE) < round)
        pause_briefly();
}

static double exchanges(void)
{
    const int rounds = alone ? ROUNDS / 10 : ROUNDS;
    exchange();
    const double start = now();
    for (int i = 0; i < rounds; i++)
        exchange();
    return (now() - start) / rounds;
}

static double copy(size_t bytes, int sample)
{
    memset(common->data[me], sample, bytes);
    exchange();
    const double start = now();
    memcpy(copied, common->data[1 - me], bytes);
    const double us = now() - start;
    exchange();
    if (copied[0] != (char)sample || copied[bytes - 1] != (char)sample)
        common->wrong[me] = 1;
    return us;
}

/* The slower process of each sample counts. */
static void report(const char *what, size_t bytes, int samples)
{
    exchange();
    if (me == 1)
        return;
    double *us = common->us[0];
    for (int i = 0; i < samples; i++)
        us[i] = us[i] > common->us[1][i] ? us[i] : common->us[1][i];
    printf("{\"type\": \"record\", \"what\": \"%s\", \"bytes\": %zu, \"samples\": %d, "
           "\"median_us\": %.4g, \"p10_us\": %.4g, \"p90_us\": %.4g}\n",
           what, bytes, samples, bench_quantile(us, samples, 0.5), bench_quantile(us, samples, 0.1),
           bench_quantile(us, samples, 0.9));
}

/* The first samples warm up. */
static void measure(int samples)
{
    for (int i = -3; i < samples; i++)
        common->us[me][i < 0 ? 0 : i] = exchanges();
    report("exchange", sizeof(uint64_t), samples);
    for (int k = 0; k < SIZES; k++) {
        exchange(); /* the times before are read */
        for (int i = -3; i < samples; i++)
            common->us[me][i < 0 ? 0 : i] = copy(sizes[k], i + 5);
        report("copy", sizes[k], samples);
    }
}

/* The kernel refuses a set of cores that is smaller than its own. */
enum { SETS = 32 /* of 1024 cores */, BYTES = SETS * sizeof(cpu_set_t) };

/* The `i`th core that this process may use. */
static int core_of(const cpu_set_t allowed[SETS], int i)
{
    size_t core = 0;
    while (core < 8 * BYTES && (!CPU_ISSET_S(core, BYTES, allowed) || i-- > 0))
        core++;
    return (int)core;
}

static void keep_to(int core)
{
    cpu_set_t one[SETS];
    CPU_ZERO_S(BYTES, one);
    CPU_SET_S((size_t)core, BYTES, one);
    sched_setaffinity(0, BYTES, one);
}

static int usage(void)
{
    fprintf(stderr, "crestacoll-floor: expected a number of samples, 1 to %d\n", MOST);
    return 2;
}

int main(int argc, char **argv)
{
    const int samples = argc > 1 ? atoi(argv[1]) : SAMPLES;
    cpu_set_t allowed[SETS];
    if (argc > 2 || samples < 1 || samples > MOST)
        return usage();
    common = mmap(NULL, sizeof *common, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (common == MAP_FAILED || sched_getaffinity(0, BYTES, allowed) != 0)
        return 1;
    alone = CPU_COUNT_S(BYTES, allowed) < 2;
    const int cores[2] = {core_of(allowed, 0), core_of(allowed, alone ? 0 : 1)};
    printf("{\"type\": \"header\", \"cores\": [%d, %d]}\n", cores[0], cores[1]);
    fflush(stdout);
    const pid_t child = fork();
    if (child < 0)
        return 1;
    me = child == 0;
    if (me == 1)
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* nobody would answer */
    keep_to(cores[me]);
    measure(samples);
    if (me == 1)
        _exit(0);
    int status = 0;
    if (waitpid(child, &status, 0) != child || status != 0)
        return 1;
    const int wrong = common->wrong[0] || common->wrong[1];
    printf("{\"type\": \"end\", \"ok\": %s}\n", wrong ? "false" : "true");
    return wrong;
}
