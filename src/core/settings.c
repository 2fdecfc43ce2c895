/* SPDX-License-Identifier: BSD-3-Clause */
/* settings.c - see settings.h. */
#include "core/settings.h"

#include <stdio.h>
#include <string.h>

#include "core/config.h"
#include "core/mpi_compat.h"

enum { VALUE = 256, SHOWN = 200 }; /* characters of a value, and of one that is shortened */

/* A text of any length, in one line: no two come out alike. */
static void put_text(char *value, const char *text)
{
    size_t used = 0;
    for (const char *c = text; *c != '\0'; c++) {
        if (used + 2 > SHOWN) {
            snprintf(value + used, VALUE - used, "... (%zu characters, %016llx)", strlen(text),
                     (unsigned long long)cco_hash(0, text));
            return;
        }
        if (*c == '\n' || *c == '\\')
            value[used++] = '\\';
        value[used++] = *c;
        if (*c == '\n')
            value[used - 1] = 'n';
    }
    value[used] = '\0';
}

static void put_store(char *value, const cco_store *store)
{
    snprintf(value, VALUE, "%s:%zu%s", store->dynamic ? "dynamic" : "static", store->bytes,
             store->given ? "" : " (not set)");
}

static void tell_IMPL(const cco_config *c, char *value)
{
    put_text(value, c->impl);
}

static void tell_FALLBACK(const cco_config *c, char *value)
{
    put_text(value, cco_fallback_names[c->fallback]);
}

/* Rank 0 writes it: the others need only know that it will be. */
static void tell_PROFILE(const cco_config *c, char *value)
{
    put_text(value, c->profile != NULL ? "(set)" : "");
}

static void tell_PROFILE_WAIT(const cco_config *c, char *value)
{
    snprintf(value, VALUE, "%u", c->profile_wait);
}

static void tell_SHM_MEMORY(const cco_config *c, char *value)
{
    snprintf(value, VALUE, "%zu", c->shm_memory);
}

static void tell_ASYNC(const cco_config *c, char *value)
{
    put_text(value, cco_async_names[c->async]);
}

static void tell_PROTECTED_BUFFER(const cco_config *c, char *value)
{
    snprintf(value, VALUE, "%d", c->protect);
}

static void tell_OS_WINDOW(const cco_config *c, char *value)
{
    put_store(value, &c->os_window);
}

static void tell_CAF_BUFFER(const cco_config *c, char *value)
{
    put_store(value, &c->caf_buffer);
}

static void tell_DEVICE_MEMORY(const cco_config *c, char *value)
{
    put_text(value, cco_device_names[c->device_memory]);
}

static void tell_DEBUG(const cco_config *c, char *value)
{
    const cco_debug *d = &c->debug;
    int used = snprintf(value, VALUE, "%s%s", d->check ? "+check" : "", d->trace ? "+trace" : "");
    if (d->delay > 0)
        used += snprintf(value + used, VALUE - (size_t)used, "+delay=%lu", d->delay);
    if (d->fail > 0)
        used += snprintf(value + used, VALUE - (size_t)used, "+fail=%lu", d->fail);
    if (d->disagree > 0)
        used += snprintf(value + used, VALUE - (size_t)used, "+disagree=%lu", d->disagree);
    memmove(value, value + (used > 0), (size_t)used + (used == 0)); /* without the first + */
}

/* These may differ. */
#define tell_LOG NULL
#define tell_LOADED NULL

/* Programs of one job may have been built with different libraries. */
static void tell_version(const cco_config *c, char *value)
{
    (void)c;
    snprintf(value, VALUE, "%d.%d.%d", CRESTA_VERSION_MAJOR, CRESTA_VERSION_MINOR,
             CRESTA_VERSION_PATCH);
}

static void tell_built_in(const cco_config *c, char *value)
{
    (void)c;
    put_text(value, CCO_DEFAULT_IMPL);
}

static const struct {
    const char *name;
    void (*tell)(const cco_config *c, char *value);
} settings[] = {
#define CCO_ENV(name, preset, help) {"CRESTA_" #name, tell_##name},
#include "core/env.def"
#undef CCO_ENV
    {"version of crestacoll", tell_version},
    {"built-in rules", tell_built_in},
};

void cco_settings_report(char *text)
{
    size_t used = 0;
    memset(text, 0, CCO_SETTINGS_ROOM); /* it is sent whole */
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        char value[VALUE] = "";
        if (settings[i].tell == NULL)
            continue;
        settings[i].tell(&cco_configured, value);
        if (used < CCO_SETTINGS_ROOM)
            used += (size_t)snprintf(text + used, CCO_SETTINGS_ROOM - used, "%s=%s\n",
                                     settings[i].name, value);
    }
}

uint64_t cco_settings_hash(void)
{
    char text[CCO_SETTINGS_ROOM];
    cco_settings_report(text);
    return cco_hash(0, text);
}
