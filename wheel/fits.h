/* SPDX-License-Identifier: BSD-3-Clause */
/* fits.h - which MPI a process has, and which of the libraries in the wheel fits it.
 *
 * Every folder beside the front library is for one binary interface (openmpi-4, mpich-4, mpiabi).
 * A library fits if the loader finds everything in this MPI that it needs: only that is certain,
 * whatever the MPI calls itself. */
#ifndef CCO_FITS_H
#define CCO_FITS_H

#include <limits.h>
#include <stdbool.h>

/* An MPI library in this process; its handle is of dlopen. */
typedef struct cco_mpi {
    void *handle;
    char path[PATH_MAX], soname[NAME_MAX + 1];
} cco_mpi;

/* The one of this process, from now on visible to libraries that are loaded later.  A program that
 * was linked to one has it from the start; an interpreter loads it later and for itself alone. */
bool cco_mpi_of_process(cco_mpi *mpi);

/* The library `file` that fits `mpi`, and the interface it is for; NULL if none does. */
void *cco_load_fitting(const cco_mpi *mpi, const char *file, const char **interface);

/* What the MPI says of itself, in one line. */
enum { CCO_VERSION = 1 << 14 }; /* more than MPI_MAX_LIBRARY_VERSION_STRING of any MPI */
void cco_mpi_version(const cco_mpi *mpi, char text[CCO_VERSION]);

/* "what was found, what is there", in one sentence without an end. */
void cco_say_misfit(const cco_mpi *mpi, char *text, int room);

/* Whether this process speaks for its job, as its launcher tells it. */
bool cco_is_first_rank(void);

#endif
