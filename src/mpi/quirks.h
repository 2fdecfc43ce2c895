/* SPDX-License-Identifier: BSD-3-Clause */
/* quirks.h - which MPI there is below, and what it gets wrong: cco_quirk_NAME() for each row of
 * quirks.def, equal on all ranks. */
#ifndef CCO_QUIRKS_H
#define CCO_QUIRKS_H

#include <limits.h>

#include "mpi/mpi_compat.h"

typedef enum cco_mpich_kind {
    CCO_MPICH,
    CCO_MPICH_OF_INTEL,
    CCO_MPICH_OF_OSU, /* MVAPICH */
    CCO_MPICH_OF_CRAY,
    CCO_MPICH_KINDS
} cco_mpich_kind;

typedef struct cco_mpich_version {
    cco_mpich_kind kind;
    int number; /* 402 for MPICH 4.2; beyond all limits for an MPI of another family */
    bool ch4;   /* its device */
} cco_mpich_version;

/* By the text of MPI_Get_library_version.  Cray MPICH says what it is made from.  Intel MPI, up to
 * 2021.18 at least, has what is wrong in MPICH 4.0, and MVAPICH, which has begun from 3.x and 4.x,
 * is taken for that, too. */
cco_mpich_version cco_mpich_version_of(const char *text);

/* That of this process. */
const cco_mpich_version *cco_mpich(void);

/* MPICH 5.0 and Intel MPI 2021.18. */
static inline bool cco_mpich_loses_statuses(void)
{
    const cco_mpich_version *mpich = cco_mpich();
    return mpich->kind == CCO_MPICH_OF_INTEL || (mpich->number >= 500 && mpich->number < INT_MAX);
}

#define CCO_QUIRK(name, present, ...)                                                              \
    static inline bool cco_quirk_##name(void)                                                      \
    {                                                                                              \
        return present;                                                                            \
    }
#include "mpi/quirks.def"
#undef CCO_QUIRK

#endif
