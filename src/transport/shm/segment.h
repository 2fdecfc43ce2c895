/* SPDX-License-Identifier: BSD-3-Clause */
/* segment.h - memory that the ranks of a communicator on one node share.
 *
 * It has no name: rank 0 makes it (memfd_create), the others map it by way of /proc, and the kernel
 * frees it with the last process, however that ends. */
#ifndef CCO_SEGMENT_H
#define CCO_SEGMENT_H

#include "core/mpi_compat.h"
#include <stdbool.h>
#include <stddef.h>

typedef struct cco_segment {
    char *memory; /* zero to begin with; NULL: there is none */
    size_t size;
} cco_segment;

/* Makes a segment of `size` bytes; collective over `comm`, on which errors are returned.  True on
 * all ranks, or false on all: ranks on other nodes, in other containers, no memory. */
bool cco_segment_make(cco_segment *segment, size_t size, MPI_Comm comm, int rank);

void cco_segment_free(cco_segment *segment); /* local */

#endif
