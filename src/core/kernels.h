/* SPDX-License-Identifier: BSD-3-Clause */
/* kernels.h - the operations of the standard on the types of C and Fortran, as loops of our own:
 * faster than a call of MPI_Reduce_local for small counts, and vectorised for large ones. */
#ifndef CCO_KERNELS_H
#define CCO_KERNELS_H

#include "core/mpi_compat.h"
#include <stddef.h>

/* into[i] = from[i] op into[i], for `n` elements; the arrays do not overlap. */
typedef void (*cco_kernel)(const void *from, void *into, size_t n);

/* NULL for what only the MPI knows: operations of the program, pairs, types of other sizes. */
cco_kernel cco_kernel_of(MPI_Op op, MPI_Datatype type);

#endif
