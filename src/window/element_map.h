/* SPDX-License-Identifier: BSD-3-Clause */
/* element_map.h - the elements that a datatype consists of, as accumulates see them. */
#ifndef CCO_ELEMENT_MAP_H
#define CCO_ELEMENT_MAP_H

#include <stddef.h>

#include "mpi/mpi_compat.h"
#include "window/element.h"
#include "window/element_places.h"

/* Elements of one predefined type, in the order of the typemap. */
typedef struct cco_element_map {
    MPI_Datatype basic;
    size_t bytes;          /* of data in one element, without gaps */
    size_t elements;       /* in one of the datatype */
    cco_element_run *runs; /* where they lie; NULL: one element, at 0 */
    size_t count;          /* of runs */
    MPI_Aint extent;       /* from one of the datatype to the next */
    MPI_Aint first, end;   /* where its data begin and end */
} cco_element_map;

/* The map of a committed type; NULL if there is none: no type, no elements, or predefined types
 * that differ.  Kept with the type, until that is freed; that of a predefined type until the next
 * call of this thread.  Returns MPI_SUCCESS or MPI_ERR_NO_MEM. */
int cco_element_map_of(MPI_Datatype type, const cco_element_map **map);

/* How `op` changes an element of a predefined type, for this thread, until its next calls; NULL if
 * the standard has no such operation for accumulates, or the type is derived. */
const cco_element *cco_element_of(MPI_Datatype type, MPI_Op op);

#endif
