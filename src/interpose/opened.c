/* SPDX-License-Identifier: BSD-3-Clause */
/* opened.c - dlsym, in the preload library alone: a program that opens the MPI's library by dlopen
 * and looks functions up in its handle (Julia, ctypes, numba) gets ours for those that it would get
 * by name.
 *
 * All other look-ups jump to the C library's dlsym.  It must be a jump: what comes next
 * (RTLD_NEXT) depends on the file to which it returns.  They may come before anything else runs in
 * the process (from an allocator, or from the runtime of a sanitizer), so that nothing is called
 * for them here but the loader. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <stdbool.h>
#include <stddef.h>

#include "mpi/mpi_compat.h"
#include "base/next.h"

#if defined(__GLIBC__)

#if defined(__has_attribute)
#if __has_attribute(musttail)
#define JUMP __attribute__((musttail)) return
#endif
#endif
#if !defined(JUMP)
#define JUMP return
#endif
#if defined(__clang__)
#define EARLY __attribute__((no_sanitize("address", "undefined")))
#else
#define EARLY                                                                                      \
    __attribute__((no_sanitize_address, no_sanitize_undefined,                                     \
                   optimize("O2,optimize-sibling-calls"), noinline))
#endif

typedef void *(*look_up)(void *restrict, const char *restrict);

/* Where dlsym was before it moved to libc.so.6 (2.34), by machine. */
EARLY static look_up find_next(void)
{
    static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17", "GLIBC_2.27",
                                           "GLIBC_2.0"};
    const char *minor = gnu_get_libc_version() + 2;
    const bool moved = minor[0] > '3' || (minor[0] == '3' && minor[1] >= '4');
    look_up found = NULL;
    for (size_t i = moved ? 0 : 1; found == NULL && i < sizeof versions / sizeof *versions; i++)
        found = (look_up)dlvsym(RTLD_NEXT, "dlsym", versions[i]);
    return found;
}

static look_up next;

EARLY static look_up next_dlsym(void)
{
    look_up found = __atomic_load_n(&next, __ATOMIC_RELAXED);
    if (found == NULL) {
        found = find_next();
        __atomic_store_n(&next, found, __ATOMIC_RELAXED);
    }
    return found;
}

static void *opened_file_of(const void *address)
{
    Dl_info info;
    return address != NULL && dladdr(address, &info) != 0 ? info.dli_fbase : NULL;
}

static const char here; /* in our file */

/* The function of ours by that name, or of a library of crestacoll's that is ahead of this one;
 * NULL if there is none. */
static void *opened_ours(const char *name)
{
    Dl_info info;
    const void *ahead = next_dlsym()(RTLD_DEFAULT, "cresta_ahead_next_definition");
    void *first = ahead != NULL ? next_dlsym()(RTLD_DEFAULT, name) : NULL;
    if (first != NULL && opened_file_of(first) == opened_file_of(ahead))
        return first;
    void *self = dladdr(&here, &info) != 0 ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    void *found = self != NULL ? next_dlsym()(self, name) : NULL;
    if (self != NULL)
        dlclose(self);
    return opened_file_of(found) == opened_file_of(&here) ? found : NULL;
}

/* Ours for what is found in the file that has the MPI of the process.  In another one it is that of
 * a tool, or of a second MPI, which we do not know. */
static void *of_mpi(void *handle, const char *name)
{
    void *found = next_dlsym()(handle, name);
    const cco_function own = cco_own_definition(name);
    void *mpi = NULL, *instead = NULL;
    __builtin_memcpy(&mpi, &own, sizeof mpi);
    if (found != NULL && mpi != NULL && opened_file_of(found) == opened_file_of(mpi))
        instead = opened_ours(name);
    if (found != NULL)
        dlerror(); /* what we did not find on the way is no error of the program's */
    return instead != NULL ? instead : found;
}

CCO_EXPORT void *dlsym(void *restrict handle, const char *restrict name) __THROW;
EARLY void *dlsym(void *restrict handle, const char *restrict name)
{
    const bool named = handle != RTLD_DEFAULT && handle != RTLD_NEXT && name[0] == 'M' &&
                       name[1] == 'P' && name[2] == 'I' && name[3] == '_';
    look_up to = named ? of_mpi : next_dlsym();
    JUMP to(handle, name);
}

#endif
