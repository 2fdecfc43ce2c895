/* SPDX-License-Identifier: BSD-3-Clause */
/* node_key.c - see node_key.h. */
#include "base/node_key.h"

#include <stdio.h>
#include <sys/stat.h>

#include "config/config.h"
#include "base/imposed_nodes.h"
#include "base/world.h"

uint64_t cco_boot_key(void)
{
    char boot[64] = "";
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
    if (file != NULL) {
        if (fgets(boot, sizeof boot, file) == NULL)
            boot[0] = '\0';
        fclose(file);
    }
    return boot[0] != '\0' ? cco_hash(1, boot) : 0;
}

/* A hash of the kernel's boot and the name space; 0 if it is not known. */
static uint64_t node_key_machine(void)
{
    struct stat status;
    char text[64];
    const uint64_t boot = cco_boot_key();
    if (boot == 0 || stat("/proc/self/ns/pid", &status) != 0)
        return 0;
    snprintf(text, sizeof text, "%llu", (unsigned long long)status.st_ino);
    const uint64_t hash = cco_hash(boot, text);
    return hash != 0 ? hash : 1;
}

uint64_t cco_node_key(void)
{
    static uint64_t known; /* a process cannot leave its machine: every set-up asks */
    uint64_t key = __atomic_load_n(&known, __ATOMIC_RELAXED);
    char text[32];
    int rank = 0;
    if (key == 0) {
        key = node_key_machine();
        __atomic_store_n(&known, key, __ATOMIC_RELAXED);
    }
    if (key == 0 || cco_configured.nodes == NULL || !cco_has_world() || !cco_world_rank(&rank))
        return key;
    snprintf(text, sizeof text, "node %d", cco_imposed_node(cco_configured.nodes, rank));
    key = cco_hash(key, text);
    return key != 0 ? key : 1;
}
