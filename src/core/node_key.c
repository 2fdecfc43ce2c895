/* SPDX-License-Identifier: BSD-3-Clause */
/* node_key.c - see node_key.h. */
#include "core/node_key.h"

#include <stdio.h>
#include <sys/stat.h>

#include "core/config.h"
#include "core/imposed_nodes.h"
#include "core/world.h"

uint64_t cco_node_key(void)
{
    struct stat status;
    char boot[64] = "", text[128];
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
    int rank = 0, node = 0;
    if (file != NULL) {
        if (fgets(boot, sizeof boot, file) == NULL)
            boot[0] = '\0';
        fclose(file);
    }
    if (boot[0] == '\0' || stat("/proc/self/ns/pid", &status) != 0)
        return 0;
    if (cco_configured.nodes != NULL && cco_has_world() && cco_world_rank(&rank))
        node = 1 + cco_imposed_node(cco_configured.nodes, rank);
    snprintf(text, sizeof text, "%s %llu %d", boot, (unsigned long long)status.st_ino, node);
    const uint64_t key = cco_hash(0, text);
    return key != 0 ? key : 1;
}
