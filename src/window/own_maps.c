/* SPDX-License-Identifier: BSD-3-Clause */
/* own_maps.c - see own_maps.h. */
#include "window/own_maps.h"

#include <stdio.h>
#include <string.h>

static bool own_maps_parse(const char *line, cco_own_map *map)
{
    unsigned long long begin, end, offset, inode;
    unsigned major, minor;
    char rights[8];
    int path = 0;
    if (sscanf(line, "%llx-%llx %7s %llx %x:%x %llu %n", &begin, &end, rights, &offset, &major,
               &minor, &inode, &path) < 7 ||
        inode == 0 || strncmp(rights, "rw", 2) != 0 || rights[3] != 's')
        return false;
    const char *slash = strrchr(line + path, '/');
    *map = (cco_own_map){begin, end, offset, (uint64_t)major << 32 | minor, inode, ""};
    snprintf(map->name, sizeof map->name, "%.*s", (int)sizeof map->name - 1,
             slash != NULL ? slash + 1 : line + path);
    return true;
}

/* Calls `fits` with each shared map, until it says yes. */
static bool own_maps_search(bool (*fits)(const cco_own_map *map, void *what), void *what,
                            cco_own_map *map)
{
    char line[8192];
    bool found = false;
    FILE *file = fopen("/proc/self/maps", "re");
    while (file != NULL && !found && fgets(line, sizeof line, file) != NULL)
        found = own_maps_parse(line, map) && fits(map, what);
    if (file != NULL)
        fclose(file);
    return found;
}

static bool holds_address(const cco_own_map *map, void *what)
{
    const uintptr_t address = *(const uintptr_t *)what;
    return map->begin <= address && address < map->end;
}

bool cco_own_map_at(const void *address, cco_own_map *map)
{
    uintptr_t at = (uintptr_t)address;
    return address != NULL && own_maps_search(holds_address, &at, map);
}

typedef struct part {
    uint64_t device, inode, offset, bytes;
} part;

static bool holds_part(const cco_own_map *map, void *what)
{
    const part *p = what;
    return map->device == p->device && map->inode == p->inode && map->offset <= p->offset &&
           p->offset + p->bytes <= map->offset + (map->end - map->begin);
}

char *cco_own_map_find(uint64_t device, uint64_t inode, uint64_t offset, uint64_t bytes,
                       cco_own_map *map)
{
    part p = {device, inode, offset, bytes};
    if (!holds_part(map, &p) && !own_maps_search(holds_part, &p, map))
        return NULL;
    return (char *)map->begin + (offset - map->offset);
}
