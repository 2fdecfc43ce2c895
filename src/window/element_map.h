/* SPDX-License-Identifier: BSD-3-Clause */
/* element_map.h - the elements that a datatype consists of, as accumulates see them. */
#ifndef CCO_ELEMENT_MAP_H
#define CCO_ELEMENT_MAP_H

#include <stddef.h>

#include "core/mpi_compat.h"
#include "window/element.h"

/* Elements of one predefined type, in the order of the typemap. */
typedef struct cco_element_map {
    MPI_Datatype basic;
    size_t bytes;        /* of data in one element, without gaps */
    size_t elements;     /* in one of the datatype */
    MPI_Aint *at;        /* where they begin; NULL: one, at 0 */
    MPI_Aint extent;     /* from one of the datatype to the next */
    MPI_Aint first, end; /* where its data begin and end */
} cco_element_map;

/* The map of a committed type; NULL if there is none: no type, predefined types that differ, or no
 * memory.  Kept with the type, until that is freed. */
const cco_element_map *cco_element_map_of(MPI_Datatype type);

/* How `op` changes an element of a predefined type, for this thread, until its next calls; NULL if
 * the standard has no such operation for accumulates, or the type is derived. */
const cco_element *cco_element_of(MPI_Datatype type, MPI_Op op);

#endif
