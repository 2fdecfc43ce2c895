/* SPDX-License-Identifier: BSD-3-Clause */
/* type_contents.h - how a derived datatype was made, also one of large counts. */
#ifndef CCO_TYPE_CONTENTS_H
#define CCO_TYPE_CONTENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "mpi/mpi_compat.h"

/* The arguments of its constructor, in the order of MPI 4.1, section 5.1.13. */
typedef struct cco_type_contents {
    int combiner;
    bool large;         /* made with large counts */
    MPI_Count *numbers; /* its integers, counts and addresses, one after the other */
    MPI_Datatype *inner;
    size_t types; /* of `inner` */
} cco_type_contents;

/* The contents of a type that is not predefined.  Returns MPI_SUCCESS; MPI_ERR_NO_MEM, or
 * MPI_ERR_TYPE where the MPI does not tell: then there is nothing to release. */
int cco_type_contents_get(MPI_Datatype type, cco_type_contents *contents);

/* Frees the inner types that are not predefined, too. */
void cco_type_contents_release(cco_type_contents *contents);

#endif
