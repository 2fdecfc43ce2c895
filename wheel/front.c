/* SPDX-License-Identifier: BSD-3-Clause */
/* front.c - libcrestacoll-preload.so of the wheel: one library for every MPI.  And
 * INTERFACE/libcrestacoll-front.so, the same with the functions that only some MPIs have.
 *
 * It defines all that any preload library of the wheel defines (trampolines.py), and knows no MPI
 * itself.  The first call finds the MPI of the process and loads the library that fits it; each
 * name is then looked up once, and costs a jump.  Where none fits, a name is the MPI's own, also
 * CRESTA_x where there is MPI_x: the jump keeps all arguments as they are, so nothing need be known
 * of their types. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fits.h"

/* From trampolines.S: the names in order, and where each goes. */
extern const char *const cco_front_names[] __attribute__((visibility("hidden")));
extern void *cco_front_slots[] __attribute__((visibility("hidden")));
__attribute__((visibility("hidden"))) void *cco_front_resolve(size_t which);

#define EXPORT __attribute__((visibility("default")))

/* What comes after us, where all copies of crestacoll look for it (src/base/next.c). */
EXPORT void *cresta_next_definition(const char *name);
EXPORT void *cresta_preload_next_definition(const char *name);
EXPORT void *cresta_front_next_definition(const char *name);

/* Whether a library fits the MPI of this process, so that functions CRESTA_x do what they say; -1
 * if it has no MPI yet. */
EXPORT int cresta_front_fits(void);

/* Not as the last call of a function: the loader takes the file to which it returns for ours. */
static void *after_us(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    __asm__ volatile("" : "+r"(found));
    return found;
}

void *cresta_front_next_definition(const char *name)
{
    return after_us(name);
}

void *cresta_next_definition(const char *name)
{
    return after_us(name);
}

void *cresta_preload_next_definition(const char *name)
{
    return after_us(name);
}

/* What this process has, once it has an MPI. */
typedef struct choice {
    cco_mpi mpi;
    void *library; /* NULL: none fits */
} choice;

static choice *chosen;

/* `crestacoll run` must know that it was not forgotten. */
static void report_misfit(const cco_mpi *mpi)
{
    char text[PATH_MAX + 1024];
    const char *path = secure_getenv("CRESTA_LOADED");
    if (!cco_is_first_rank())
        return;
    cco_say_misfit(mpi, text, sizeof text);
    fprintf(stderr, "crestacoll: %s; it runs as without crestacoll\n", text);
    FILE *to = path != NULL && *path != '\0' ? fopen(path, "w") : NULL;
    if (to != NULL) {
        fprintf(to, "misfit\n");
        fclose(to);
    }
}

/* Without a lock: the loader has one of its own, in which another thread may call the MPI (from a
 * constructor).  Threads that come at once find the same, and the first of them says it. */
static choice *choose(void)
{
    choice *first = __atomic_load_n(&chosen, __ATOMIC_ACQUIRE);
    const char *interface = NULL;
    if (first != NULL)
        return first;
    choice *own = calloc(1, sizeof *own);
    if (own == NULL || !cco_mpi_of_process(&own->mpi)) {
        free(own);
        return NULL;
    }
    own->library = cco_load_fitting(&own->mpi, "libcrestacoll-preload.so", &interface);
    if (!__atomic_compare_exchange_n(&chosen, &first, own, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE)) {
        free(own);
        return first;
    }
    if (own->library == NULL)
        report_misfit(&own->mpi);
    return own;
}

int cresta_front_fits(void)
{
    const choice *c = choose();
    return c == NULL ? -1 : c->library != NULL;
}

/* The functions of ours in a process whose MPI nothing fits. */
static int refuse(void)
{
    return 1;
}

/* These have other arguments than those of the MPI. */
static int alloc_alone(intptr_t bytes, void *comm, void *base)
{
    void *memory = malloc(bytes > 0 ? (size_t)bytes : 1);
    (void)comm;
    memcpy(base, &memory, sizeof memory);
    return memory == NULL;
}

static int free_alone(void *base)
{
    free(base);
    return 0;
}

/* CRESTA_Allreduce, cresta_allreduce_: the MPI's own if it has one, or what says that it cannot.
 * Subroutines of Fortran have no other way to say it than to end: NULL. */
static void *instead_of(const char *name, void *mpi)
{
    char theirs[128];
    const bool fortran = name[strlen(name) - 1] == '_';
    if (strncmp(name, "CRESTA_", 7) != 0 && strncmp(name, "cresta_", 7) != 0)
        return NULL;
    if (strcmp(name, "CRESTA_Alloc_mem") == 0)
        return (void *)alloc_alone;
    if (strcmp(name, "CRESTA_Free_mem") == 0)
        return (void *)free_alone;
    snprintf(theirs, sizeof theirs, "%s_%s", name[0] == 'C' ? "MPI" : "mpi", name + 7);
    void *found = strstr(name, "alloc_mem") == NULL ? dlsym(mpi, theirs) : NULL;
    return found != NULL ? found : fortran ? NULL : (void *)refuse;
}

/* CRESTA_OFF=1: no library is loaded for names of the MPI.  One that is loaded for names of ours is
 * off as well. */
static bool is_off(const char *name)
{
    const char *off = secure_getenv("CRESTA_OFF");
    return off != NULL && strcmp(off, "1") == 0 && strncmp(name, "CRESTA_", 7) != 0 &&
           strncmp(name, "cresta_", 7) != 0;
}

static void *without_us(const char *name)
{
    cco_mpi mpi;
    void *next = after_us(name);
    return next == NULL && cco_mpi_of_process(&mpi) ? dlsym(mpi.handle, name) : next;
}

static void *look_up(const char *name)
{
    if (is_off(name))
        return without_us(name);
    const choice *c = choose();
    void *found = c != NULL && c->library != NULL ? dlsym(c->library, name) : NULL;
    if (found == NULL)
        found = after_us(name);
    if (found == NULL && c != NULL)
        found = dlsym(c->mpi.handle, name);
    return found == NULL && c != NULL ? instead_of(name, c->mpi.handle) : found;
}

/* The first call by a name comes here. */
void *cco_front_resolve(size_t which)
{
    void *found = look_up(cco_front_names[which]);
    if (found == NULL) {
        fprintf(stderr, "crestacoll: %s was called, and nothing in this process defines it\n",
                cco_front_names[which]);
        abort();
    }
    __atomic_store_n(&cco_front_slots[which], found, __ATOMIC_RELEASE);
    return found;
}
