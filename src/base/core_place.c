/* SPDX-License-Identifier: BSD-3-Clause */
/* core_place.c - see core_place.h. */
#define _GNU_SOURCE
#include "base/core_place.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CORES = 4096, WORDS = CORES / 64, CACHES = 8, NODES = 64, LINE = 4096 };
#define SYSTEM "/sys/devices/system"

static void core_place_set(uint64_t *cores, long first, long last)
{
    for (long i = first; i <= last && i < CORES; i++)
        cores[i / 64] |= (uint64_t)1 << i % 64;
}

/* False if a list is not a list of cores. */
static bool read_list(const char *list, uint64_t *cores, long *lowest)
{
    *lowest = -1;
    while (*list >= '0' && *list <= '9') {
        char *end;
        const long first = strtol(list, &end, 10);
        const long last = *end == '-' ? strtol(end + 1, &end, 10) : first;
        *lowest = *lowest < 0 || first < *lowest ? first : *lowest;
        core_place_set(cores, first, last);
        list = *end == ',' ? end + 1 : end;
    }
    return *lowest >= 0 && (*list == '\0' || *list == '\n');
}

/* The lowest core in a list ("0-3,8"); -1 for no list, or if one in `holds` (bits) is not there. */
static int32_t core_place_lowest(const char *list, const uint64_t *holds, int words)
{
    uint64_t cores[WORDS] = {0};
    long lowest;
    if (!read_list(list, cores, &lowest))
        return -1;
    for (int i = 0; i < words; i++)
        if (holds[i] & ~(i < WORDS ? cores[i] : 0))
            return -1;
    return (int32_t)lowest;
}

static bool core_place_read_file(const char *path, char *text)
{
    FILE *file = fopen(path, "r");
    const bool read = file != NULL && fgets(text, LINE, file) != NULL;
    if (file != NULL)
        fclose(file);
    return read;
}

/* What a file says of a cache of a core; false if there is none. */
static bool read_cache(int core, int cache, const char *what, char *text)
{
    char path[128];
    snprintf(path, sizeof path, SYSTEM "/cpu/cpu%d/cache/index%d/%s", core, cache, what);
    return core_place_read_file(path, text);
}

/* The last cache of a core is the largest; -1 if there is none. */
static int last_of(int core)
{
    char text[LINE];
    int last = -1;
    for (int i = 0, level = 0; i < CACHES && read_cache(core, i, "level", text); i++)
        if (atoi(text) >= level) {
            level = atoi(text);
            last = i;
        }
    return last;
}

static int32_t cache_of(int core, const uint64_t *mine)
{
    char list[LINE];
    const int last = last_of(core);
    const bool read = last >= 0 && read_cache(core, last, "shared_cpu_list", list);
    return core_place_lowest(read ? list : "", mine, WORDS);
}

static int32_t memory_of(const uint64_t *mine)
{
    char path[128], list[LINE];
    for (int i = 0; i < NODES; i++) {
        snprintf(path, sizeof path, SYSTEM "/node/node%d/cpulist", i);
        const int32_t lowest = core_place_read_file(path, list)
                                   ? core_place_lowest(list, mine, WORDS)
                                   : -1;
        if (lowest >= 0)
            return lowest;
    }
    return -1;
}

/* The cores this process may use, bit per core; the lowest, -1 if that is not known. */
static int my_cores(uint64_t *mine)
{
    int lowest = -1;
    cpu_set_t *cores = CPU_ALLOC(CORES);
    const size_t size = CPU_ALLOC_SIZE(CORES);
    if (cores == NULL)
        return -1;
    CPU_ZERO_S(size, cores);
    if (sched_getaffinity(0, size, cores) == 0)
        for (int i = CORES - 1; i >= 0; i--)
            if (CPU_ISSET_S((size_t)i, size, cores)) {
                core_place_set(mine, i, i);
                lowest = i;
            }
    CPU_FREE(cores);
    return lowest;
}

bool cco_node_shape_read(cco_node_shape *shape, const char *text)
{
    enum { MOST = 4096 };
    char behind;
    return sscanf(text, "%4dx%4dx%4d%c", &shape->memories, &shape->caches, &shape->cores,
                  &behind) == 3 &&
           shape->memories > 0 && shape->caches > 0 && shape->cores > 0 &&
           (long)shape->memories * shape->caches <= MOST / shape->cores;
}

cco_core_place cco_core_place_in(const cco_node_shape *shape, int core)
{
    const int of_memory = shape->caches * shape->cores;
    const int here = core % (shape->memories * of_memory);
    return (cco_core_place){here / shape->cores * shape->cores, here / of_memory * of_memory};
}

/* Files of the system take long to read: they are read again when the process was bound anew. */
cco_core_place cco_core_place_here(void)
{
    static _Thread_local uint64_t before[WORDS];
    static _Thread_local cco_core_place here = {-1, -1};
    uint64_t mine[WORDS] = {0};
    const int core = my_cores(mine);
    if (core < 0)
        return (cco_core_place){-1, -1};
    if (memcmp(mine, before, sizeof mine) != 0)
        here = (cco_core_place){cache_of(core, mine), memory_of(mine)};
    memcpy(before, mine, sizeof mine);
    return here;
}

size_t cco_cache_bytes(const char *text)
{
    char *end;
    const unsigned long n = strtoul(text, &end, 10);
    const int shift = *end == 'K' ? 10 : *end == 'M' ? 20 : 0;
    return shift > 0 && n <= SIZE_MAX >> shift ? (size_t)n << shift : 0;
}

/* The hardware threads of the core to which one belongs, as far as they are online; itself, if
 * nobody knows. */
static void threads_of(int thread, uint64_t *threads)
{
    char path[128], text[LINE];
    long lowest;
    snprintf(path, sizeof path, SYSTEM "/cpu/cpu%d/topology/thread_siblings_list", thread);
    if (!core_place_read_file(path, text) || !read_list(text, threads, &lowest))
        memset(threads, 0, WORDS * sizeof *threads);
    core_place_set(threads, thread, thread);
}

/* Counts a list of the kernel, whose "cores" are hardware threads.  Each core is asked: a processor
 * may have cores with two threads beside cores with one, and some threads may be offline. */
static int core_place_count_of(const char *list)
{
    uint64_t rest[WORDS] = {0};
    long lowest;
    int count = 0;
    if (!read_list(list, rest, &lowest))
        return 1;
    for (int i = 0; i < WORDS; i++)
        for (; rest[i] != 0; count++) {
            uint64_t threads[WORDS] = {0};
            threads_of(i * 64 + __builtin_ctzll(rest[i]), threads);
            for (int j = i; j < WORDS; j++)
                rest[j] &= ~threads[j];
        }
    return count > 0 ? count : 1;
}

static cco_last_cache read_last(void)
{
    char text[LINE];
    uint64_t mine[WORDS] = {0};
    const int core = my_cores(mine), last = core >= 0 ? last_of(core) : -1;
    const size_t bytes = last >= 0 && read_cache(core, last, "size", text) ? cco_cache_bytes(text)
                                                                           : 0;
    if (bytes == 0)
        return (cco_last_cache){SIZE_MAX, 1};
    const bool shared = read_cache(core, last, "shared_cpu_list", text);
    return (cco_last_cache){bytes, shared ? core_place_count_of(text) : 1};
}

cco_last_cache cco_last_cache_here(void)
{
    static _Thread_local cco_last_cache here;
    if (here.cores == 0)
        here = read_last();
    return here;
}
