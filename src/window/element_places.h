/* SPDX-License-Identifier: BSD-3-Clause */
/* element_places.h - where the elements of a datatype lie, from how it was constructed. */
#ifndef CCO_ELEMENT_PLACES_H
#define CCO_ELEMENT_PLACES_H

#include <stddef.h>

#include "mpi/mpi_compat.h"

/* Elements one behind the other, each an extent from the one before. */
typedef struct cco_element_run {
    MPI_Aint at; /* bytes from the address of the datatype */
    size_t length;
} cco_element_run;

/* Elements of one predefined type, in the order of the typemap. */
typedef struct cco_element_places {
    MPI_Datatype basic; /* MPI_DATATYPE_NULL: there are no elements */
    MPI_Aint step;      /* extent of `basic` */
    size_t elements;
    size_t count, room;    /* of runs, and for how many there is memory */
    cco_element_run *runs; /* free() it */
} cco_element_places;

/* Time and memory grow with the number of runs, not with the extent (but for those of
 * MPI_Type_create_darray).  Returns MPI_SUCCESS, MPI_ERR_NO_MEM, or MPI_ERR_TYPE where the
 * predefined types differ; in both of these there is nothing to free. */
int cco_element_places_of(MPI_Datatype type, cco_element_places *places);

#endif
