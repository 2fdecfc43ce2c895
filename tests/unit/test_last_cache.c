/* SPDX-License-Identifier: BSD-3-Clause */
/* test_last_cache.c - the last cache, and how many cores share it, on machines whose files of the
 * system are written here.  Needs no running MPI. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core_place.h"
#include "testing/testing.h"

#define SYSTEM "/sys/devices/system/cpu/cpu"

/* Hardware threads first to last have this cache; `threads` of each core are numbered one after the
 * other. */
typedef struct part {
    int first, last, threads;
    const char *shared, *size;
} part;

enum { PARTS = 3, TOP = 4096, ALL = -1 };

typedef struct machine {
    const char *what;
    int mine; /* the first hardware thread on which this process may run */
    part parts[PARTS];
    int apart;           /* the second thread of each core from the first; 0: it comes next */
    const char *instead; /* what the file of the siblings of one has, or that of ALL */
    int instead_of;
    size_t bytes;
    int cores;
} machine;

static const machine *here;

static const part *part_of(int thread)
{
    for (int i = 0; i < PARTS; i++)
        if (here->parts[i].threads > 0 && thread >= here->parts[i].first &&
            thread <= here->parts[i].last)
            return &here->parts[i];
    return NULL;
}

static const char *siblings(const part *p, int thread)
{
    static _Thread_local char text[64];
    const int first = p->first + (thread - p->first) / p->threads * p->threads;
    if (here->instead != NULL && (here->instead_of == ALL || thread == here->instead_of))
        return here->instead;
    if (here->apart > 0) {
        const int mine = thread % here->apart;
        snprintf(text, sizeof text, "%d,%d\n", mine, mine + here->apart);
        return text;
    }
    snprintf(text, sizeof text, p->threads > 1 ? "%d-%d\n" : "%d\n", first, first + p->threads - 1);
    return text;
}

/* What a file has; NULL: there is none. A first cache that each core has for itself, and the last.
 */
static const char *contents(int thread, const char *file)
{
    const part *p = part_of(thread);
    if (p == NULL)
        return NULL;
    if (strcmp(file, "topology/thread_siblings_list") == 0)
        return siblings(p, thread);
    if (strcmp(file, "cache/index0/level") == 0)
        return "1\n";
    if (strcmp(file, "cache/index1/level") == 0)
        return "3\n";
    if (strcmp(file, "cache/index1/size") == 0)
        return p->size;
    return strcmp(file, "cache/index1/shared_cpu_list") == 0 ? p->shared : NULL;
}

FILE *__real_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode)
{
    int thread, read = 0;
    if (here == NULL || sscanf(path, SYSTEM "%d/%n", &thread, &read) != 1 || read == 0)
        return __real_fopen(path, mode);
    const char *text = contents(thread, path + read);
    return text != NULL ? fmemopen((void *)(uintptr_t)text, strlen(text), mode) : NULL;
}

int __wrap_sched_getaffinity(pid_t process, size_t size, cpu_set_t *set);
int __wrap_sched_getaffinity(pid_t process, size_t size, cpu_set_t *set)
{
    (void)process;
    CPU_SET_S((size_t)here->mine, size, set);
    return 0;
}

static void *look(void *found)
{
    *(cco_last_cache *)found = cco_last_cache_here();
    return NULL;
}

/* As Intel's processors with two kinds of cores; the last two of some have no third cache. */
#define TWO_KINDS                                                                                  \
    {                                                                                              \
        {0, 15, 2, "0-23\n", "30M\n"},                                                             \
        {                                                                                          \
            16, 23, 1, "0-23\n", "30M\n"                                                           \
        }                                                                                          \
    }
#define THREE_KINDS                                                                                \
    {                                                                                              \
        {0, 3, 2, "0-11\n", "12M\n"}, {4, 11, 1, "0-11\n", "12M\n"},                               \
        {                                                                                          \
            12, 13, 1, "12-13\n", "2M\n"                                                           \
        }                                                                                          \
    }

static const machine machines[] = {
    {.what = "16 cores of two threads",
     .parts = {{0, 31, 2, "0-31\n", "32768K\n"}},
     .bytes = 32 << 20,
     .cores = 16},
    {.what = "8 of two threads, 8 of one", .parts = TWO_KINDS, .bytes = 30 << 20, .cores = 16},
    {.what = "from one of these 8", .mine = 20, .parts = TWO_KINDS, .bytes = 30 << 20, .cores = 16},
    {.what = "2 of two, 8 of one", .parts = THREE_KINDS, .bytes = 12 << 20, .cores = 10},
    {.what = "2 more, with a cache of theirs",
     .mine = 12,
     .parts = THREE_KINDS,
     .bytes = 2 << 20,
     .cores = 2},
    {.what = "four cores, the first of one thread since the other is offline",
     .parts = {{0, 7, 2, "0,2-7\n", "8M\n"}},
     .instead = "0\n",
     .bytes = 8 << 20,
     .cores = 4},
    {.what = "four cores, the first of which is offline",
     .mine = 2,
     .parts = {{2, 7, 2, "2-7\n", "8M\n"}},
     .bytes = 8 << 20,
     .cores = 3},
    {.what = "four cores, whose second threads come after all the first ones",
     .parts = {{0, 7, 2, "0-7\n", "8M\n"}},
     .apart = 4,
     .bytes = 8 << 20,
     .cores = 4},
    {.what = "a space between the numbers",
     .parts = {{0, 1, 1, "0-1,64-65\n", "8M\n"}, {64, 65, 1, "0-1,64-65\n", "8M\n"}},
     .bytes = 8 << 20,
     .cores = 4},
    {.what = "nobody knows the siblings of any",
     .parts = {{0, 3, 2, "0-3\n", "8M\n"}},
     .instead = "?",
     .instead_of = ALL,
     .bytes = 8 << 20,
     .cores = 4},
    {.what = "more than there may be",
     .mine = TOP - 1,
     .parts = {{TOP - 64, TOP + 1, 2, "4032-4097\n", "8M\n"}},
     .bytes = 8 << 20,
     .cores = 32},
    {.what = "no list", .parts = {{0, 3, 2, "\n", "8M\n"}}, .bytes = 8 << 20, .cores = 1},
    {.what = "no size", .parts = {{0, 3, 2, "0-3\n", "?\n"}}, .bytes = SIZE_MAX, .cores = 1},
};

int main(void)
{
    for (int i = 0; i < LEN(machines); i++) {
        pthread_t thread;
        cco_last_cache found = {0, 0};
        here = &machines[i];
        snprintf(testing_label, sizeof testing_label, "%s", here->what);
        /* Each thread reads the files once. */
        if (CHECK(pthread_create(&thread, NULL, look, &found) == 0, "a thread"))
            pthread_join(thread, NULL);
        CHECK(found.bytes == here->bytes && found.cores == here->cores, "%zu bytes, %d cores",
              found.bytes, found.cores);
    }
    here = NULL;
    return testing_end("last_cache");
}
