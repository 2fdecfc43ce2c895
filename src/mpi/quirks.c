/* SPDX-License-Identifier: BSD-3-Clause */
/* quirks.c - see quirks.h. */
#include "mpi/quirks.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { TAKEN_FOR = 400 }; /* where the text does not say what the MPI is made from */

static cco_mpich_version quirks_version(cco_mpich_kind kind, const char *numbers, const char *form)
{
    int major = 0, minor = 0;
    const bool told = numbers != NULL && sscanf(numbers, form, &major, &minor) == 2;
    return (cco_mpich_version){kind, told ? 100 * major + minor : TAKEN_FOR, false};
}

static bool quirks_begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static cco_mpich_version quirks_family(const char *text)
{
    if (strstr(text, "CRAY MPICH") != NULL)
        return quirks_version(CCO_MPICH_OF_CRAY, strstr(text, "ANL base"), "ANL base %d.%d");
    if (quirks_begins(text, "MPICH Version:"))
        return quirks_version(CCO_MPICH, text, "MPICH Version: %d.%d");
    if (quirks_begins(text, "Intel(R) MPI"))
        return quirks_version(CCO_MPICH_OF_INTEL, NULL, "");
    if (quirks_begins(text, "MVAPICH"))
        return quirks_version(CCO_MPICH_OF_OSU, NULL, "");
    return (cco_mpich_version){CCO_MPICH, INT_MAX, false};
}

cco_mpich_version cco_mpich_version_of(const char *text)
{
    cco_mpich_version version = quirks_family(text);
    version.ch4 = strstr(text, "ch4") != NULL;
    return version;
}

static cco_mpich_version known;

static void quirks_find_out(void)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length;
    PMPI_Get_library_version(text, &length);
    known = cco_mpich_version_of(text);
}

const cco_mpich_version *cco_mpich(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, quirks_find_out);
    return &known;
}
