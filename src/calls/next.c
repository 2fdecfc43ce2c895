/* SPDX-License-Identifier: BSD-3-Clause */
/* next.c - where a counted call goes on. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls/next.h"

/* Not as the last call of a function: the loader takes the file to which it returns for ours. */
static void *calls_after_us(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    __asm__ volatile("" : "+r"(found));
    return found;
}

/* For base/next.c: what comes after this file is what the program would get without it. */
CCO_EXPORT void *cresta_ahead_next_definition(const char *name);
void *cresta_ahead_next_definition(const char *name)
{
    return calls_after_us(name);
}

/* The MPI's own, PMPI_x or pmpi_x_: an MPI that an interpreter loaded later comes after nothing. */
static void *calls_own(const char *name)
{
    char own[80];
    snprintf(own, sizeof own, "%s%s", name[0] == 'M' ? "P" : "p", name);
    void *found = dlsym(RTLD_DEFAULT, own);
    __asm__ volatile("" : "+r"(found));
    return found;
}

void *cco_calls_next(const char *name, void **found)
{
    void *there = calls_after_us(name);
    if (there == NULL)
        there = calls_own(name);
    if (there == NULL) {
        fprintf(stderr, "crestacoll: the MPI of this process has no %s\n", name);
        abort();
    }
    __atomic_store_n(found, there, __ATOMIC_RELAXED);
    return there;
}

/* The file that an address is in; NULL where that is not known. */
static const char *calls_file_of(const void *address)
{
    Dl_info info;
    return address != NULL && dladdr(address, &info) != 0 ? info.dli_fname : NULL;
}

static const char here; /* in our file */

/* The file whose definition of a function comes ahead of ours; NULL if ours is the first, or if
 * that file is crestacoll's: it is linked into the program then, and hands every call on. */
static const char *calls_ahead_of_us(const char *name)
{
    const char *ours = calls_file_of(&here);
    const char *first = calls_file_of(dlsym(RTLD_DEFAULT, name));
    const char *linked = calls_file_of(dlsym(RTLD_DEFAULT, "cresta_next_definition"));
    const bool is_ahead = first != NULL && ours != NULL && strcmp(first, ours) != 0 &&
                          (linked == NULL || strcmp(first, linked) != 0);
    return is_ahead ? first : NULL;
}

const char *cco_calls_ahead(void)
{
    for (int i = 0; i < CCO_CALLS_FUNCTIONS; i++) {
        const char *path = calls_ahead_of_us(cco_calls_names[i]);
        if (path != NULL)
            return path;
    }
    return NULL;
}

void cco_calls_put_ahead(FILE *file, void (*put_string)(FILE *file, const char *text),
                         const char *const *names, int count)
{
    const char *comma = "";
    fprintf(file, "{");
    for (int i = 0; i < count; i++) {
        const char *path = calls_ahead_of_us(names[i]);
        if (path == NULL)
            continue;
        fprintf(file, "%s\n  \"%s\": ", comma, names[i]);
        put_string(file, path);
        comma = ",";
    }
    fprintf(file, "}");
}
