/* SPDX-License-Identifier: BSD-3-Clause */
/* exact_fold.h - exact sums of several operands, element by element, each rounded once: the same
 * bits in whatever order the operands come. */
#ifndef CCO_EXACT_FOLD_H
#define CCO_EXACT_FOLD_H

#include <stddef.h>

#include "reduce/kernels.h"

/* to[i] = the sum of element i of all `count` parts.  `to` overlaps no part.  Any address will do.
 * Nothing of the floating-point environment tells in the result, nor changes. */
typedef void (*cco_fold)(const cco_operands *parts, int count, void *to, size_t n);

/* What the numbers of a type are, also of those that Fortran programs make by their precision;
 * CCO_NUMBERS if they are none that the loops know. */
cco_number cco_exact_number_of(MPI_Datatype type);

/* The fold of sums of such numbers; NULL if there is none. */
cco_fold cco_fold_of_number(cco_number number);

/* The fold of MPI_SUM on a floating or complex type of the MPI; NULL for other operations, and for
 * types of which this build knows no exact sums: reals of 16 bytes that are not long doubles of 80
 * bits, and of 2 bytes. */
cco_fold cco_fold_of(MPI_Op op, MPI_Datatype type);

#endif
