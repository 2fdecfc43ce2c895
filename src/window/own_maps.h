/* SPDX-License-Identifier: BSD-3-Clause */
/* own_maps.h - the files that are mapped into this process, as /proc shows them. */
#ifndef CCO_OWN_MAPS_H
#define CCO_OWN_MAPS_H

#include <stdbool.h>
#include <stdint.h>

/* Consecutive bytes of a file that are shared with whoever maps it. */
typedef struct cco_own_map {
    uintptr_t begin, end;
    uint64_t offset;        /* in the file, of the first byte */
    uint64_t device, inode; /* the file: the same in all processes of a node */
    char name[64];          /* without folders, cut where it is too long */
} cco_own_map;

/* The map that `address` lies in.  False if it lies in none that is shared. */
bool cco_own_map_at(const void *address, cco_own_map *map);

/* Where `bytes` of a file from `offset` are in this process; NULL if they are not.  `*map` is the
 * one where they were found last, which is tried first; zero at first. */
char *cco_own_map_find(uint64_t device, uint64_t inode, uint64_t offset, uint64_t bytes,
                       cco_own_map *map);

#endif
