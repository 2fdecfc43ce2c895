/* SPDX-License-Identifier: BSD-3-Clause */
/* next.c - see next.h. */
#define _GNU_SOURCE
#include "base/next.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

#include "mpi/mpi_compat.h"

/* Not as the last call of a function: the loader takes the file to which it returns for ours. */
static void *after_this_file(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    __asm__ volatile("" : "+r"(found));
    return found;
}

/* Another copy before this one asks, too. */
CCO_EXPORT void *cresta_next_definition(const char *name)
{
    return after_this_file(name);
}

/* The next definition after the preload library, which alone has the MPI's collectives. */
#if defined(CRESTA_PRELOAD)
CCO_EXPORT void *cresta_preload_next_definition(const char *name);
void *cresta_preload_next_definition(const char *name)
{
    return after_this_file(name);
}
#endif

/* The front library of the wheel (wheel/front.c) is what the process loaded in our place: we came
 * later, and what is next to us comes after it.  Where there is none, after our own file. */
#define FRONT "cresta_front_next_definition"
static void *after_us(const char *name)
{
#if defined(CRESTA_PRELOAD)
    void *(*of_front)(const char *);
    *(void **)&of_front = dlsym(RTLD_DEFAULT, FRONT);
    if (of_front != NULL)
        return of_front(name);
#endif
    return after_this_file(name);
}

/* Where the file begins that an address is in; NULL if nobody knows. */
static void *next_file_of(const void *address)
{
    Dl_info info;
    return address != NULL && dladdr(address, &info) != 0 ? info.dli_fbase : NULL;
}

/* `found`, or what comes after it, if it is in the file of `copy`, a cresta_next_definition. */
static void *next_past(void *found, void *copy, const char *name)
{
    void *(*of_copy)(const char *);
    if (found == NULL || copy == NULL || next_file_of(found) != next_file_of(copy))
        return found;
    memcpy(&of_copy, &copy, sizeof of_copy);
    return of_copy(name);
}

/* In the file of a function that the MPI alone has.  Where an interpreter loaded the MPI late, that
 * comes after nothing. */
static void *in_the_mpi(const char *own)
{
    Dl_info info;
    void *anchor = dlsym(RTLD_DEFAULT, "PMPI_Get_library_version");
    void *handle = anchor != NULL && dladdr(anchor, &info) != 0
                       ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD)
                       : NULL;
    void *found = handle != NULL ? dlsym(handle, own) : NULL;
    if (handle != NULL)
        dlclose(handle);
    return found;
}

/* PMPI_x for MPI_x; the MPI's, also where the preload library has one (interpose/own_init.c). */
static void *own_definition(const char *name)
{
    char own[64] = "P";
    strncat(own, name, sizeof own - 2);
    void *found = dlsym(RTLD_DEFAULT, own);
    if (strncmp(name, "MPI_Init", 8) != 0 && strcmp(name, "MPI_Finalize") != 0)
        return found;
    found = next_past(found, dlsym(RTLD_DEFAULT, "cresta_preload_next_definition"), own);
    return found != NULL ? found : in_the_mpi(own);
}

static cco_function function_at(void *address)
{
    cco_function function = NULL;
    memcpy(&function, &address, sizeof function);
    return function;
}

/* Most MPIs have one function by both names.  To ask for files takes much longer than to compare,
 * and every name is looked up in MPI_Init. */
static bool is_tool(void *found, void *own)
{
    return found != NULL && found != own && next_file_of(found) != next_file_of(own);
}

static cco_function next_tool(const char *name, void *own)
{
    void *found = after_us(name);
    if (found == NULL || found == own)
        return NULL;
    found = next_past(found, after_us("cresta_next_definition"), name);
    return is_tool(found, own) ? function_at(found) : NULL;
}

void cco_no_tool(void)
{
}

static const char here; /* in our file */

static bool next_is_ours(void *found)
{
    const void *file = next_file_of(found);
    return file != NULL &&
           (file == next_file_of(&here) || file == next_file_of(dlsym(RTLD_DEFAULT, FRONT)));
}

/* Past a library of crestacoll's that is preloaded ahead of this one: it sees the program's calls,
 * and is no tool to which others go on. */
#define AHEAD "cresta_ahead_next_definition"
static void *next_first(const char *name)
{
    return next_past(dlsym(RTLD_DEFAULT, name), dlsym(RTLD_DEFAULT, AHEAD), name);
}

/* In our file there is a tool too where both are linked into the program; but what every copy
 * defines is `ours` there. */
static cco_function first_tool(const char *name, void *own, bool ours)
{
    void *found = next_first(name);
    if (found == NULL || found == own)
        return NULL;
    if (ours && next_is_ours(found))
        return next_tool(name, own);
    found = next_past(found, dlsym(RTLD_DEFAULT, "cresta_preload_next_definition"), name);
    return is_tool(found, own) ? function_at(found) : NULL;
}

cco_function cco_own_definition(const char *name)
{
    return function_at(own_definition(name));
}

#if !defined(CRESTA_PRELOAD)
void cco_first_copy(void)
{
    void *preload = dlsym(RTLD_DEFAULT, "cresta_preload_stand_back");
    const cco_function stand_back = function_at(preload);
    if (stand_back != NULL)
        stand_back();
}
#endif

void cco_definitions_of(const char *name, cco_definitions *are)
{
    void *own = own_definition(name);
    are->own = function_at(own);
    are->first = first_tool(name, own, false);
    are->next = NULL;
#if defined(CRESTA_PRELOAD)
    are->next = next_tool(name, own);
#endif
}

static cco_function next_remember(cco_function now, cco_function *found)
{
    __atomic_store_n(found, now != NULL ? now : cco_no_tool, __ATOMIC_RELAXED);
    return now;
}

cco_function cco_next_look_up(const char *name, cco_function *found)
{
    return next_remember(next_tool(name, own_definition(name)), found);
}

cco_function cco_first(const char *name, cco_function *found)
{
    const cco_function now = __atomic_load_n(found, __ATOMIC_RELAXED);
    if (now == NULL)
        return next_remember(first_tool(name, own_definition(name), true), found);
    return now != cco_no_tool ? now : NULL;
}
