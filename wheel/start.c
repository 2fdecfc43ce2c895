/* SPDX-License-Identifier: BSD-3-Clause */
/* start.c - crestacoll-start MPI_LIBRARY [PROGRAM [ARGUMENT...]]: a program of the wheel with the
 * MPI of the machine.
 *
 * The programs are not linked to any MPI: sonames and places differ.  They are libraries, which
 * this one loads after the MPI that it is given.  Without PROGRAM it prints which interface fits,
 * and what the MPI calls itself, on two lines. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

#include "fits.h"

enum { CANNOT = 125 };

static int fail(const char *why)
{
    fprintf(stderr, "crestacoll: %s\n", why);
    return CANNOT;
}

static int describe(const cco_mpi *mpi, const char *interface)
{
    char said[CCO_VERSION];
    cco_mpi_version(mpi, said);
    printf("%s\n%s\n", interface, said);
    return 0;
}

int main(int argc, char **argv)
{
    static cco_mpi mpi;
    char name[NAME_MAX + 1], text[PATH_MAX + 1024];
    const char *interface = NULL;
    if (argc < 2)
        return fail("usage: crestacoll-start MPI_LIBRARY [PROGRAM [ARGUMENT...]]");
    if (dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) == NULL)
        return fail(dlerror());
    snprintf(name, sizeof name, "%s.so", argc > 2 ? argv[2] : "libcrestacoll-preload");
    if (!cco_mpi_of_process(&mpi))
        return fail("this is no MPI library");
    void *program = cco_load_fitting(&mpi, name, &interface);
    if (program == NULL) {
        cco_say_misfit(&mpi, text, sizeof text);
        return fail(text);
    }
    if (argc == 2)
        return describe(&mpi, interface);
    int (*run)(int, char **);
    *(void **)&run = dlsym(program, "cresta_program");
    return run != NULL ? run(argc - 2, argv + 2) : fail("this is no program of crestacoll");
}
