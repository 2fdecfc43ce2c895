/* SPDX-License-Identifier: BSD-3-Clause */
/* kernels.h - the operations of the standard on its types, as loops of our own: faster than a call
 * of MPI_Reduce_local for small counts, vectorised for large ones, and the same bits on every rank,
 * whatever its processor and wherever its data lie. */
#ifndef CCO_KERNELS_H
#define CCO_KERNELS_H

#include <stdbool.h>

#include "reduce/kernels/loops.h"
#include "mpi/mpi_compat.h"

/* What numbers of a type are, if the loops know it. */
typedef enum cco_kind { CCO_KIND_NONE, CCO_KIND_INTEGER, CCO_KIND_FLOATING } cco_kind;
cco_kind cco_number_kind(MPI_Datatype type);

/* What elements of a type are in C; CCO_NUMBERS for what only the MPI knows.  CCO_LOOPS for an
 * operation that is none of the standard's. */
cco_number cco_number_of(MPI_Datatype type);
cco_loop cco_loop_of(MPI_Op op);

/* The loop for elements of a type, as the MPI lays them out; of the best instruction set that this
 * processor has.  NULL for what only the MPI knows: operations of the program and its types,
 * Fortran's LOGICAL, types that are not what they are to C. */
cco_kernel cco_kernel_of(MPI_Op op, MPI_Datatype type);

/* False if the standard has no such operation for elements of this type, where it is one of C's;
 * true for other types. */
bool cco_op_takes(MPI_Op op, MPI_Datatype type);

typedef enum cco_isa { CCO_BASELINE, CCO_AVX2, CCO_AVX512, CCO_ISAS } cco_isa;

/* The kernel of one instruction set; NULL also where this processor has not got it. */
cco_kernel cco_kernel_in(cco_isa isa, MPI_Op op, MPI_Datatype type);

/* The sums of many operands, of the best instruction set that this processor has. */
const cco_quick_sums *cco_quick_sums_here(void);

#endif
