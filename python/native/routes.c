/* SPDX-License-Identifier: BSD-3-Clause */
/* routes.c - functions with the arguments of MPI_x that go on to MPI_x or to CRESTA_x; see
 * native.h.
 *
 * Handles are ints in MPICH and pointers in Open MPI and in the ABI of the standard, so there are
 * two functions for each. */
#include "native.h"

#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

typedef int64_t MPI_Count;
typedef intptr_t MPI_Aint;
typedef void function(void);

static const struct {
    const char *mpi, *cresta;
} entries[] = {
#define CRESTA_ENTRY(mpi, way, cresta, parameters, arguments)                                      \
    [ENTRY_##mpi] = {"MPI_" #mpi, "CRESTA_" #cresta},
#include "python/entries.inc"
#undef CRESTA_ENTRY
};

static function *ours[ENTRIES], *theirs[ENTRIES];
static int handles_are_ints;

static _Thread_local cresta_way chosen = WAYS;

cresta_way cresta_route(cresta_way way)
{
    const cresta_way before = chosen;
    chosen = way;
    return before;
}

/* mpi4py may call other collectives on its way to this one; those are its own. */
#define CRESTA_ENTRY(mpi, way, cresta, parameters, arguments)                                      \
    static int HANDLES(mpi) parameters                                                             \
    {                                                                                              \
        function *const to = (chosen == WAY_##way ? ours : theirs)[ENTRY_##mpi];                   \
        return ((int(*) parameters)to)arguments;                                                   \
    }

#define HANDLE int
#define HANDLES(mpi) ints_##mpi
#include "python/entries.inc"
#undef HANDLE
#undef HANDLES

#define HANDLE void *
#define HANDLES(mpi) pointers_##mpi
#include "python/entries.inc"
#undef HANDLE
#undef HANDLES
#undef CRESTA_ENTRY

static function *const routes[][2] = {
#define CRESTA_ENTRY(mpi, way, cresta, parameters, arguments)                                      \
    [ENTRY_##mpi] = {(function *)pointers_##mpi, (function *)ints_##mpi},
#include "python/entries.inc"
#undef CRESTA_ENTRY
};

static function *function_at(void *address)
{
    function *f = NULL;
    memcpy(&f, &address, sizeof f);
    return f;
}

/* What all see goes before what the extension needs itself. */
static void *as_called(void *extension, const char *name)
{
    void *found = dlsym(RTLD_DEFAULT, name);
    return found != NULL ? found : dlsym(extension, name);
}

const char *cresta_routes_find(int ints, void *library, void *extension, char *used)
{
    handles_are_ints = ints;
    for (int i = 0; i < ENTRIES; i++) {
        void *const found = used[i] ? as_called(extension, entries[i].mpi) : NULL;
        used[i] = found != NULL;
        if (found == NULL)
            continue;
        theirs[i] = function_at(found);
        ours[i] = function_at(dlsym(library, entries[i].cresta));
        if (ours[i] == NULL)
            return entries[i].cresta;
    }
    return NULL;
}

cresta_entry cresta_route_of(const char *name)
{
    int i = 0;
    if (strncmp(name, "MPI_", 4) != 0)
        return ENTRIES;
    while (i < ENTRIES && strcmp(entries[i].mpi + 4, name + 4) != 0)
        i++;
    return (cresta_entry)i;
}

void *cresta_route_function(cresta_entry entry)
{
    void *address;
    memcpy(&address, &routes[entry][handles_are_ints], sizeof address);
    return address;
}
