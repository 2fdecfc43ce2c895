/* SPDX-License-Identifier: BSD-3-Clause */
/* front.c - libcrestacoll-preload.so of the wheel: one library for every MPI.
 *
 * It defines all that any preload library of the wheel defines (trampolines.py), and knows no MPI
 * itself.  The first call finds the MPI of the process and loads the library that fits it; each
 * name is then looked up once, and costs a jump.  Where none fits, a name is the MPI's own: the
 * jump keeps all arguments as they are, so nothing need be known of their types. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "fits.h"

/* Of trampolines.S: the names in order, and where each goes. */
extern const char *const cco_front_names[] __attribute__((visibility("hidden")));
extern void *cco_front_slots[] __attribute__((visibility("hidden")));
__attribute__((visibility("hidden"))) void *cco_front_resolve(size_t which);

#define EXPORT __attribute__((visibility("default")))

/* What comes after us, where all copies of crestacoll look for it (src/core/next.c). */
EXPORT void *cresta_next_definition(const char *name);
EXPORT void *cresta_preload_next_definition(const char *name);
EXPORT void *cresta_front_next_definition(const char *name);

void *cresta_front_next_definition(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

void *cresta_next_definition(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

void *cresta_preload_next_definition(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

static pthread_mutex_t choosing = PTHREAD_MUTEX_INITIALIZER;
static bool chosen;
static cco_mpi mpi;
static void *library; /* NULL: none fits */

/* `crestacoll run` must know that it was not forgotten. */
static void report_misfit(void)
{
    char text[PATH_MAX + 1024];
    const char *path = getenv("CRESTA_LOADED");
    if (!cco_is_first_rank())
        return;
    cco_say_misfit(&mpi, text, sizeof text);
    fprintf(stderr, "crestacoll: %s; it runs as without crestacoll\n", text);
    FILE *to = path != NULL && *path != '\0' ? fopen(path, "w") : NULL;
    if (to != NULL) {
        fprintf(to, "misfit\n");
        fclose(to);
    }
}

static void choose(void)
{
    const char *interface = NULL;
    if (chosen || !cco_mpi_of_process(&mpi))
        return;
    chosen = true;
    library = cco_load_fitting(&mpi, "libcrestacoll-preload.so", &interface);
    if (library == NULL)
        report_misfit();
}

static void *look_up(const char *name)
{
    void *found = library != NULL ? dlsym(library, name) : NULL;
    if (found == NULL)
        found = dlsym(RTLD_NEXT, name);
    return found != NULL || mpi.handle == NULL ? found : dlsym(mpi.handle, name);
}

/* Of the first call by a name. */
void *cco_front_resolve(size_t which)
{
    pthread_mutex_lock(&choosing);
    choose();
    void *found = look_up(cco_front_names[which]);
    pthread_mutex_unlock(&choosing);
    if (found == NULL) {
        fprintf(stderr, "crestacoll: %s was called, and nothing in this process defines it\n",
                cco_front_names[which]);
        abort();
    }
    __atomic_store_n(&cco_front_slots[which], found, __ATOMIC_RELEASE);
    return found;
}
