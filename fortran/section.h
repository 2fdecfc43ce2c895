/* SPDX-License-Identifier: BSD-3-Clause */
/* section.h - a Fortran actual argument that may be an array section, as an address (and a count
 * and type) for MPI. */
#ifndef CCO_SECTION_H
#define CCO_SECTION_H

#include <ISO_Fortran_binding.h>
#include "mpi/mpi_compat.h"
#include <stdbool.h>

typedef struct cco_f_section {
    void *address;
    MPI_Fint count, type; /* what to say to MPI instead of the caller's count and type */
    MPI_Count large_count;
    bool error;
    CFI_cdesc_t
        *copied; /* the argument that `address` is a copy of, NULL if it is the argument itself */
    bool made;   /* `type` is ours to free */
} cco_f_section;

/* For blocking calls: a copy without gaps where the argument has some. */
cco_f_section cco_f_copy_in(CFI_cdesc_t *argument);

/* For calls that return before they end: a datatype that describes `count` elements of `type` in
 * the argument.  An error if its elements are not of the size of `type`. */
cco_f_section cco_f_describe(CFI_cdesc_t *argument, MPI_Count count, MPI_Fint type);

/* For calls that can do neither: an error if the argument has gaps. */
cco_f_section cco_f_contiguous(CFI_cdesc_t *argument);

/* Lets go of copy and type; with `out`, the copy goes back first. */
void cco_f_release(cco_f_section *section, int out);

/* The copy becomes the caller's to free; NULL if there is none. */
void *cco_f_keep(cco_f_section *section);

/* Calls the error handler of the communicator for an argument with gaps; returns MPI_ERR_BUFFER. */
int cco_f_section_error(MPI_Fint comm);

#endif
