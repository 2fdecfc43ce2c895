/* SPDX-License-Identifier: BSD-3-Clause */
/* next.c - where a counted call goes on. */
#define _GNU_SOURCE
#include <dlfcn.h>
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

/* For core/next.c: what comes after this file is what the program would get without it. */
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
