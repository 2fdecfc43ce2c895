/* SPDX-License-Identifier: BSD-3-Clause */
/* interpose_symbols.h - the Fortran symbols of a call of Open MPI: one function, the spellings of
 * all compilers, mpi_f08. */
#ifndef CCO_INTERPOSE_SYMBOLS_H
#define CCO_INTERPOSE_SYMBOLS_H

#include "mpi/mpi_compat.h"

#define CCO_F_ALIAS(name, target, parameters)                                                      \
    CCO_EXPORT void name parameters __attribute__((alias(#target)));

#define CCO_F_FUNCTION(lower, upper, stem, parameters, arguments)                                  \
    CCO_EXPORT void lower##_ parameters                                                            \
    {                                                                                              \
        cresta_address_##stem arguments;                                                           \
    }                                                                                              \
    CCO_F_ALIAS(lower, lower##_, parameters)                                                       \
    CCO_F_ALIAS(lower##__, lower##_, parameters)                                                   \
    CCO_F_ALIAS(lower##_f08_, lower##_, parameters)                                                \
    CCO_F_ALIAS(upper, lower##_, parameters)

#define CCO_F_SYMBOLS(stem, STEM, parameters, arguments)                                           \
    CCO_F_FUNCTION(mpi_##stem, MPI_##STEM, stem, parameters, arguments)

#if defined(CRESTA_PERSISTENT_MPIX)
#define CCO_F_INIT(stem, STEM, parameters, arguments)                                              \
    CCO_F_FUNCTION(mpix_##stem, MPIX_##STEM, stem, parameters, arguments)
#else
#define CCO_F_INIT(stem, STEM, parameters, arguments)                                              \
    CCO_F_SYMBOLS(stem, STEM, parameters, arguments)
#endif

#endif
