/* SPDX-License-Identifier: BSD-3-Clause */
/* symmetric.h - memory of CRESTA_Alloc_mem, and where the parts of other ranks lie. */
#ifndef CCO_SYMMETRIC_H
#define CCO_SYMMETRIC_H

#include <stdbool.h>
#include <stddef.h>

#include "mpi/mpi_compat.h"

typedef struct cco_symmetric {
    void *base;    /* of this rank */
    size_t stride; /* from one rank's part to the next one's; 0: they are not shared */
} cco_symmetric;

/* `bytes` for each rank of `comm`, zero if they are shared; collective.  False on all ranks without
 * memory; the error handler of `comm` is not called. */
bool cco_symmetric_make(cco_symmetric *memory, size_t bytes, MPI_Comm comm);

void cco_symmetric_free(cco_symmetric *memory);

#endif
