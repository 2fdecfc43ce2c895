/* SPDX-License-Identifier: BSD-3-Clause */
/* config.c - see config.h. */
#include "core/config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* -D_STATIC_OS_WIN and the like of the original library, as a value of CRESTA_OS_WINDOW. */
#if !defined(CCO_DEFAULT_OS_WINDOW)
#define CCO_DEFAULT_OS_WINDOW NULL
#endif
#if !defined(CCO_DEFAULT_CAF_BUFFER)
#define CCO_DEFAULT_CAF_BUFFER NULL
#endif

cco_config cco_configured = {.log = CCO_LOG_WARN, .fallback = CCO_FALLBACK_WARN};

/* `make DFLAGS=-D_PROTECTED_BUFFER` */
#if defined(CCO_PROTECTED_BUFFER)
#define CCO_PROTECTED_PRESET "1"
#else
#define CCO_PROTECTED_PRESET "0"
#endif

const cco_env_row cco_env_rows[] = {
#define CCO_ENV(name, preset, help) {"CRESTA_" #name, preset, help},
#include "core/env.def"
#undef CCO_ENV
};
const int cco_env_row_count = (int)(sizeof cco_env_rows / sizeof cco_env_rows[0]);

static const char *preset_of(const char *name)
{
    for (int i = 0; i < cco_env_row_count; i++)
        if (strcmp(cco_env_rows[i].name, name) == 0)
            return cco_env_rows[i].preset;
    return "";
}

/* The value of a variable of the table, its default when unset or empty. */
static const char *value(const char *name)
{
    const char *text = getenv(name);
    return text != NULL && *text != '\0' ? text : preset_of(name);
}

/* All that is left of a file; NULL and errno if it cannot be read, as a folder, which opens. */
static char *read_all(FILE *file)
{
    size_t used = 0, room = 4096;
    char *text = malloc(room);
    while (text != NULL) {
        const size_t got = fread(text + used, 1, room - used - 1, file);
        used += got;
        if (got == 0)
            break;
        if (used + 1 == room) {
            char *larger = realloc(text, room *= 2);
            if (larger == NULL)
                free(text);
            text = larger;
        }
    }
    const int error = ferror(file) ? errno : 0;
    if (text == NULL || error) {
        free(text);
        errno = error ? error : ENOMEM;
        return NULL;
    }
    text[used] = '\0';
    return text;
}

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return NULL;
    char *text = read_all(file);
    const int error = errno;
    fclose(file);
    errno = error;
    return text;
}

static void read_impl(cco_config *c)
{
    const char *text = value("CRESTA_IMPL");
    free(c->impl);
    snprintf(c->impl_source, sizeof c->impl_source, "CRESTA_IMPL%s%.200s", *text == '@' ? "=" : "",
             *text == '@' ? text : "");
    c->impl = *text == '@' ? read_file(text + 1) : strdup(text);
    if (c->impl != NULL)
        return;
    snprintf(c->error, sizeof c->error, "CRESTA_IMPL=%.200s: cannot read this file: %s", text,
             strerror(errno));
    c->impl = calloc(1, 1);
}

const char *const cco_log_names[3] = {"off", "warn", "info"};
const char *const cco_fallback_names[3] = {"error", "warn", "silent"};
const char *const cco_async_names[3] = {"auto", "thread", "off"};
const char *const cco_device_names[3] = {"auto", "yes", "no"};

/* The place of a variable's value in a list of three; `otherwise` and an error if it is none of
 * them. */
static int one_of(cco_config *c, const char *name, const char *const names[3], int otherwise)
{
    for (int i = 0; i < 3; i++)
        if (strcmp(value(name), names[i]) == 0)
            return i;
    snprintf(c->error, sizeof c->error, "%s=%.40s: expected %s, %s or %s", name, value(name),
             names[0], names[1], names[2]);
    return otherwise;
}

static void read_protect(cco_config *c)
{
    const char *text = value("CRESTA_PROTECTED_BUFFER");
    c->protect = *text == '1';
    if ((*text != '0' && *text != '1') || text[1] != '\0')
        snprintf(c->error, sizeof c->error, "CRESTA_PROTECTED_BUFFER=%.40s: expected 0 or 1", text);
}

static void read_wait(cco_config *c)
{
    const char *text = value("CRESTA_PROFILE_WAIT");
    char *end;
    const unsigned long number = strtoul(text, &end, 10);
    if (*text >= '0' && *text <= '9' && *end == '\0' && number <= 1000000000UL)
        c->profile_wait = (unsigned)number;
    else
        snprintf(c->error, sizeof c->error,
                 "CRESTA_PROFILE_WAIT=%.40s: expected a number from 0 (never) to 1000000000", text);
}

/* A number of bytes, or one with K, M or G; false for any other text. */
static bool read_bytes(const char *text, size_t *bytes)
{
    char *end;
    const unsigned long long number = strtoull(text, &end, 10);
    const int shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
    *bytes = (size_t)number << shift;
    return *text >= '0' && *text <= '9' && end[shift > 0] == '\0' && *bytes >> shift == number;
}

static void read_memory(cco_config *c)
{
    const char *text = value("CRESTA_SHM_MEMORY");
    if (!read_bytes(text, &c->shm_memory))
        snprintf(c->error, sizeof c->error,
                 "CRESTA_SHM_MEMORY=%.40s: expected a number of bytes, or one with K, M or G",
                 text);
}

/* static[:SIZE] or dynamic[:SIZE]; what is not said is as in the table. */
static void read_store(cco_config *c, const char *name, const char *built_in, cco_store *store)
{
    const char *given = getenv(name), *text = given;
    store->given = given != NULL && *given != '\0';
    if (!store->given)
        text = built_in != NULL ? built_in : value(name);
    const size_t length = strcspn(text, ":");
    store->dynamic = length == 7 && strncmp(text, "dynamic", 7) == 0;
    const bool named = store->dynamic || (length == 6 && strncmp(text, "static", 6) == 0);
    const char *size = text[length] == ':' ? text + length + 1 : strchr(preset_of(name), ':') + 1;
    if (!named || !read_bytes(size, &store->bytes))
        snprintf(c->error, sizeof c->error,
                 "%s=%.40s: expected static or dynamic, perhaps with a size: static:64M", name,
                 given);
}

/* A word of CRESTA_DEBUG: NAME or NAME=NUMBER.  False for any other. */
static bool read_debug_word(cco_debug *d, const char *word, size_t length)
{
    char *end = NULL;
    if (length == 5 && strncmp(word, "check", 5) == 0)
        return d->check = true;
    if (length == 5 && strncmp(word, "trace", 5) == 0)
        return d->trace = true;
    if (strncmp(word, "delay=", 6) == 0)
        d->delay = strtoul(word + 6, &end, 10);
    else if (strncmp(word, "fail=", 5) == 0)
        d->fail = strtoul(word + 5, &end, 10);
    else if (strncmp(word, "disagree=", 9) == 0)
        d->disagree = strtoul(word + 9, &end, 10);
    return end == word + length && (d->delay > 0 || d->fail > 0 || d->disagree > 0);
}

static void read_debug(cco_config *c)
{
    c->debug = (cco_debug){0};
    for (const char *word = value("CRESTA_DEBUG"); *word != '\0';) {
        const size_t length = strcspn(word, ",+");
        if (!read_debug_word(&c->debug, word, length))
            snprintf(c->error, sizeof c->error,
                     "CRESTA_DEBUG: no '%.*s'; possible: check, trace, delay=SEED, fail=K,"
                     " disagree=SEED",
                     (int)(length < 40 ? length : 40), word);
        word += length + (word[length] != '\0');
    }
}

/* A copy, since the program may change its environment at any time; NULL if empty. */
static void read_name(cco_config *c, char **kept, const char *text)
{
    free(*kept);
    *kept = text != NULL && *text != '\0' ? strdup(text) : NULL;
    if (*kept == NULL && text != NULL && *text != '\0')
        snprintf(c->error, sizeof c->error, "no memory for the environment");
}

/* Nobody else can open it, and hold a lock on it. */
static bool is_private(const char *directory)
{
    struct stat s;
    return stat(directory, &s) == 0 && S_ISDIR(s.st_mode) && s.st_uid == geteuid() &&
           (s.st_mode & (S_IRWXG | S_IRWXO)) == 0;
}

static const char *find_private_directory(void)
{
    static const char *const names[] = {"PMIX_SERVER_TMPDIR", "XDG_RUNTIME_DIR", "TMPDIR", "HOME"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *directory = getenv(names[i]);
        if (directory != NULL && *directory == '/' && is_private(directory))
            return directory;
    }
    return NULL;
}

void cco_config_read(void)
{
    cco_config *c = &cco_configured;
    c->error[0] = '\0';
    read_impl(c);
    c->log = (cco_log_level)one_of(c, "CRESTA_LOG", cco_log_names, CCO_LOG_WARN);
    c->fallback = (cco_fallback_policy)one_of(c, "CRESTA_FALLBACK", cco_fallback_names,
                                              CCO_FALLBACK_WARN);
    c->async = (cco_async_setting)one_of(c, "CRESTA_ASYNC", cco_async_names, CCO_ASYNC_OFF);
    read_wait(c);
    read_memory(c);
    read_store(c, "CRESTA_OS_WINDOW", CCO_DEFAULT_OS_WINDOW, &c->os_window);
    read_store(c, "CRESTA_CAF_BUFFER", CCO_DEFAULT_CAF_BUFFER, &c->caf_buffer);
    c->device_memory = (cco_device_memory)one_of(c, "CRESTA_DEVICE_MEMORY", cco_device_names,
                                                 CCO_DEVICE_AUTO);
    read_protect(c);
    read_debug(c);
    read_name(c, &c->profile, value("CRESTA_PROFILE"));
    read_name(c, &c->loaded, value("CRESTA_LOADED"));
    read_name(c, &c->private_directory, find_private_directory());
}

bool cco_config_wants_thread(void)
{
    return strcmp(value("CRESTA_ASYNC"), "thread") == 0;
}

uint64_t cco_hash(uint64_t hash, const char *text)
{
    hash ^= 0xcbf29ce484222325u;
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    return hash;
}
