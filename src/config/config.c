/* SPDX-License-Identifier: BSD-3-Clause */
/* config.c - see config.h. */
#include "config/config.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/env_kinds.h"

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
#define CCO_ENV(name, kind, member, same, preset, help)                                            \
    {"CRESTA_" #name, preset, help, &cco_kind_##kind, offsetof(cco_config, member), same},
#include "config/env.def"
#undef CCO_ENV
};
const int cco_env_row_count = (int)(sizeof cco_env_rows / sizeof cco_env_rows[0]);

/* The build's own default, where it is another than the table's; NULL if it is not. */
static const char *built_in(const cco_env_row *row)
{
    if (strcmp(row->name, "CRESTA_OS_WINDOW") == 0)
        return CCO_DEFAULT_OS_WINDOW;
    return strcmp(row->name, "CRESTA_CAF_BUFFER") == 0 ? CCO_DEFAULT_CAF_BUFFER : NULL;
}

bool cco_config_off(void)
{
    const char *text = secure_getenv("CRESTA_OFF");
    return text != NULL && strcmp(text, "1") == 0;
}

/* The value of a variable: its default when unset or empty.  In a program that has more rights than
 * its user (set-uid), none is set: they name files to read and to write. */
static cco_env_value value_of(const cco_env_row *row, bool off)
{
    const char *text = off ? NULL : secure_getenv(row->name);
    const bool given = text != NULL && *text != '\0';
    if (!given)
        text = built_in(row) != NULL ? built_in(row) : row->preset;
    return (cco_env_value){row, text, given, cco_configured.error};
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
        const char *directory = secure_getenv(names[i]);
        if (directory != NULL && *directory == '/' && is_private(directory))
            return directory;
    }
    return NULL;
}

void cco_config_read(void)
{
    cco_config *c = &cco_configured;
    const bool off = cco_config_off();
    c->reads++;
    c->error[0] = '\0';
    for (int i = 0; i < cco_env_row_count; i++) {
        const cco_env_row *row = &cco_env_rows[i];
        const cco_env_value value = value_of(row, off);
        row->kind->read((char *)c + row->at, &value);
    }
    if (off) { /* what `auto` would turn on */
        c->off = true;
        c->wait = CCO_WAIT_MPI;
        c->async = CCO_ASYNC_OFF;
        c->atomics = CCO_ATOMICS_OFF;
    }
    free(c->private_directory);
    const char *directory = find_private_directory();
    c->private_directory = directory != NULL ? strdup(directory) : NULL;
}

bool cco_config_wants_thread(void)
{
    const char *text = secure_getenv("CRESTA_ASYNC");
    return text != NULL && !cco_config_off() && strcmp(text, "thread") == 0;
}

const char *cco_config_open_mpi_yields(void)
{
    const char *told = secure_getenv("OMPI_MCA_mpi_yield_when_idle");
    return told != NULL ? told : secure_getenv("OMPI_MCA_mpi_oversubscribe");
}

uint64_t cco_hash(uint64_t hash, const char *text)
{
    hash ^= 0xcbf29ce484222325u;
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    return hash;
}
