/* SPDX-License-Identifier: BSD-3-Clause */
/* settings.c - see settings.h. */
#include "config/settings.h"

#include <stdio.h>
#include <string.h>

#include "config/env_kinds.h"
#include "mpi/mpi_compat.h"

/* Adds a line to `text`, of which `used` bytes are used; how many are then. */
static size_t core_settings_add(char *text, size_t used, const char *name, const char *value)
{
    if (used >= CCO_SETTINGS_ROOM)
        return used;
    return used + (size_t)snprintf(text + used, CCO_SETTINGS_ROOM - used, "%s=%s\n", name, value);
}

/* Without what was read in the tuning file; how many bytes. */
static size_t report_environment(char *text)
{
    size_t used = 0;
    char value[CCO_VALUE];
    memset(text, 0, CCO_SETTINGS_ROOM); /* it is sent whole */
    for (int i = 0; i < cco_env_row_count; i++) {
        const cco_env_row *row = &cco_env_rows[i];
        if (!row->same)
            continue;
        row->kind->show((const char *)&cco_configured + row->at, value);
        used = core_settings_add(text, used, row->name, value);
    }
    /* Programs of one job may have been built with different libraries. */
    snprintf(value, sizeof value, "%d.%d.%d", CRESTA_VERSION_MAJOR, CRESTA_VERSION_MINOR,
             CRESTA_VERSION_PATCH);
    used = core_settings_add(text, used, "version of crestacoll", value);
    cco_show_text(CCO_DEFAULT_IMPL, value);
    return core_settings_add(text, used, "built-in rules", value);
}

void cco_settings_report(char *text)
{
    const size_t used = report_environment(text);
    if (cco_configured.tuning_read[0] != '\0')
        core_settings_add(text, used, "text of CRESTA_TUNING", cco_configured.tuning_read);
}

/* Every communicator compares it: it is made once for each reading of the environment. */
uint64_t cco_settings_hash_environment(void)
{
    static uint64_t hash;
    static unsigned reads; /* of the environment, when the hash was made */
    char text[CCO_SETTINGS_ROOM];
    if (__atomic_load_n(&reads, __ATOMIC_ACQUIRE) == cco_configured.reads)
        return __atomic_load_n(&hash, __ATOMIC_RELAXED);
    report_environment(text);
    const uint64_t made = cco_hash(0, text);
    __atomic_store_n(&hash, made, __ATOMIC_RELAXED);
    __atomic_store_n(&reads, cco_configured.reads, __ATOMIC_RELEASE);
    return made;
}

uint64_t cco_settings_hash(void)
{
    return cco_hash(cco_settings_hash_environment(), cco_configured.tuning_read);
}
