/* SPDX-License-Identifier: BSD-3-Clause */
/* mpich_version.h - which MPICH the MPI below is, or descends from, by the text of
 * MPI_Get_library_version. */
#ifndef CCO_MPICH_VERSION_H
#define CCO_MPICH_VERSION_H

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
} cco_mpich_version;

/* Cray MPICH says what it is made from.  Intel MPI, up to 2021.18 at least, has what is wrong in
 * MPICH 4.0, and MVAPICH, which has begun from 3.x and 4.x, is taken for that, too. */
cco_mpich_version cco_mpich_version_of(const char *text);

#endif
