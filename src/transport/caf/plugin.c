/* SPDX-License-Identifier: BSD-3-Clause */
/* plugin.c - see plugin.h. */
#define _GNU_SOURCE
#include "transport/caf/plugin.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpi/mpi_compat.h"

#define FILE_NAME "libcrestacoll-caf.so"

static cco_plugin plugin;
static char problem[512]; /* "" once it is loaded */

/* Where each function goes.  The names of gfortran's runtime are those of OpenCoarrays. */
static const struct {
    const char *name;
    void *to;
} functions[] = {
    {"cco_coarray_keep", &plugin.keep},
    {"cco_coarray_pass", &plugin.pass},
    {"cco_coarray_drop", &plugin.drop},
    {"cco_coarray_kept_put", &plugin.kept.put},
    {"cco_coarray_kept_get", &plugin.kept.get},
    {"cco_coarray_kept_tell", &plugin.kept.tell},
    {"cco_coarray_passing_put", &plugin.passing.put},
    {"cco_coarray_passing_get", &plugin.passing.get},
    {"cco_coarray_passing_tell", &plugin.passing.tell},
    {"_gfortran_caf_init", &plugin.init},
    {"_gfortran_caf_finalize", &plugin.finalize},
    {"_gfortran_caf_this_image", &plugin.this_image},
    {"_gfortran_caf_get_communicator", &plugin.communicator},
};

/* Where the plug-in may be, seen from the folder of the file that this code is in: beside a
 * library, or, for a program with the library linked into it, where an installation has both.
 * Otherwise the loader looks for it like for any library. */
static const char *const places[] = {
    "",
    "../lib/",
#ifdef CRESTA_PLUGIN_DIR
    CRESTA_PLUGIN_DIR,
#endif
};

/* The address range of a line of /proc/self/maps holds `at`. */
static bool plugin_covers(const char *line, uintptr_t at)
{
    unsigned long long from, to;
    return sscanf(line, "%llx-%llx", &from, &to) == 2 && from <= at && at < to;
}

/* The folder of the file that this code is in, with its last slash; false if none is known.  What
 * the loader says of it may be relative, to a current folder where anybody may have put a file: a
 * program that was found by PATH is what argv[0] says.  The kernel says where it is. */
static bool own_folder(char *folder, size_t room)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char *line = NULL;
    size_t size = 0;
    bool found = false;
    while (maps != NULL && !found && getline(&line, &size, maps) > 0)
        found = plugin_covers(line, (uintptr_t)own_folder);
    if (maps != NULL)
        fclose(maps);
    const char *path = found ? strchr(line, '/') : NULL;
    const char *end = path != NULL ? strrchr(path, '/') : NULL;
    const size_t length = end != NULL ? (size_t)(end - path) + 1 : 0;
    found = length > 0 && length < room;
    if (found) {
        memcpy(folder, path, length);
        folder[length] = '\0';
    }
    free(line);
    return found;
}

/* Local: OpenCoarrays and gfortran's runtime are no business of the program's, and find each other
 * and the MPI all the same.  All symbols at once, so that what does not fit fails here. */
static void *open_one(const char *path)
{
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        const char *said = dlerror();
        snprintf(problem, sizeof problem, "%s", said != NULL ? said : "no " FILE_NAME);
    }
    return handle;
}

/* Found by its plain name it may be another MPI's. */
static int same_mpi(void *handle)
{
    int (*version)(char *, int *);
    char theirs[MPI_MAX_LIBRARY_VERSION_STRING], ours[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    *(void **)&version = dlsym(handle, "PMPI_Get_library_version");
    return version != NULL && version(theirs, &length) == MPI_SUCCESS &&
           PMPI_Get_library_version(ours, &length) == MPI_SUCCESS && strcmp(theirs, ours) == 0;
}

static int find_functions(void *handle)
{
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        void *found = dlsym(handle, functions[i].name);
        if (found == NULL) {
            snprintf(problem, sizeof problem, FILE_NAME " has no %s", functions[i].name);
            return 0;
        }
        memcpy(functions[i].to, &found, sizeof found);
    }
    return 1;
}

/* What is wrong with one that is there says more than that there is no other. */
static void *plugin_find(void)
{
    char folder[PATH_MAX], path[PATH_MAX + 64], first[sizeof problem] = "";
    const bool known = own_folder(folder, sizeof folder);
    for (size_t i = 0; known && i < sizeof places / sizeof places[0]; i++) {
        snprintf(path, sizeof path, "%s%s" FILE_NAME, folder, places[i]);
        void *handle = open_one(path);
        if (handle != NULL)
            return handle;
        if (access(path, F_OK) == 0)
            memcpy(first, problem, sizeof first);
    }
    void *handle = open_one(FILE_NAME);
    if (handle == NULL && first[0] != '\0')
        memcpy(problem, first, sizeof problem);
    return handle;
}

static void plugin_load(void)
{
    void *handle = plugin_find();
    if (handle == NULL)
        return;
    if (!same_mpi(handle))
        snprintf(problem, sizeof problem, FILE_NAME " belongs to another MPI");
    else if (find_functions(handle))
        problem[0] = '\0';
}

bool cco_plugin_program_has_coarrays(void)
{
    return dlsym(RTLD_DEFAULT, "_gfortran_caf_init") != NULL; /* not ours, which is local */
}

const cco_plugin *cco_plugin_load(const char **why)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, plugin_load);
    *why = problem[0] != '\0' ? problem : NULL;
    return problem[0] != '\0' ? NULL : &plugin;
}
