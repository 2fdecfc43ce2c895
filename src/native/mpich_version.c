/* SPDX-License-Identifier: BSD-3-Clause */
/* mpich_version.c - see mpich_version.h. */
#include "native/mpich_version.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { TAKEN_FOR = 400 }; /* where the text does not say what the MPI is made from */

static cco_mpich_version mpich_version_version(cco_mpich_kind kind, const char *numbers,
                                               const char *form)
{
    int major = 0, minor = 0;
    const bool told = numbers != NULL && sscanf(numbers, form, &major, &minor) == 2;
    return (cco_mpich_version){kind, told ? 100 * major + minor : TAKEN_FOR};
}

static bool mpich_version_begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

cco_mpich_version cco_mpich_version_of(const char *text)
{
    if (strstr(text, "CRAY MPICH") != NULL)
        return mpich_version_version(CCO_MPICH_OF_CRAY, strstr(text, "ANL base"), "ANL base %d.%d");
    if (mpich_version_begins(text, "MPICH Version:"))
        return mpich_version_version(CCO_MPICH, text, "MPICH Version: %d.%d");
    if (mpich_version_begins(text, "Intel(R) MPI"))
        return mpich_version_version(CCO_MPICH_OF_INTEL, NULL, "");
    if (mpich_version_begins(text, "MVAPICH"))
        return mpich_version_version(CCO_MPICH_OF_OSU, NULL, "");
    return (cco_mpich_version){CCO_MPICH, INT_MAX};
}
