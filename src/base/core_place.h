/* SPDX-License-Identifier: BSD-3-Clause */
/* core_place.h - which cache and which memory the cores of this process share, and how large that
 * cache is, as Linux shows it in /sys/devices/system/cpu. */
#ifndef CCO_CORE_PLACE_H
#define CCO_CORE_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/config.h"

/* Each is the lowest number of the cores that share it; -1: this process may run beyond it, or
 * nobody knows. */
typedef struct cco_core_place {
    int32_t cache, memory;
} cco_core_place;

/* Reads "2x4x16": memories, caches of each, cores of each.  False for anything else, and for more
 * than 4096 cores in all. */
bool cco_node_shape_read(cco_node_shape *shape, const char *text);

/* Where this process is bound now. */
cco_core_place cco_core_place_here(void);

/* The last cache of a thread: of the first core on which it may run. */
typedef struct cco_last_cache {
    size_t bytes; /* SIZE_MAX: nobody knows */
    int cores;    /* that share it, at least 1; hardware threads of a core count once */
} cco_last_cache;

/* Read once by each thread: where it may run later changes nothing. */
cco_last_cache cco_last_cache_here(void);

/* "512K", "32M": what the files say of a cache; 0 for anything else. */
size_t cco_cache_bytes(const char *text);

/* The place of a core of a node of that shape; beyond its last one it begins again at the first. */
cco_core_place cco_core_place_in(const cco_node_shape *shape, int core);

#endif
