/* SPDX-License-Identifier: BSD-3-Clause */
/* pool.h - segments that communicators have let go of, for the next ones of the same ranks in the
 * same order: programs that make and free communicators again and again map nothing anew. */
#ifndef CCO_POOL_H
#define CCO_POOL_H

#include <stdint.h>

#include "transport/shm/segment.h"

/* As cco_segment_make, but the memory may be used: no number in it is beyond `*mark`, the same on
 * all ranks, and 0 if all is zero. */
bool cco_pool_take(cco_segment *segment, size_t share, size_t most, MPI_Comm comm, uint64_t *mark);

/* Lets go of a segment that has memory; local.  Nobody looks at it any more once all ranks have. */
void cco_pool_keep(cco_segment *segment, uint64_t mark, int rank);

/* Frees what nobody took; local. */
void cco_pool_empty(void);

#endif
