/* SPDX-License-Identifier: BSD-3-Clause */
/* buffers.h - the buffers of a call on this rank, as its caller describes them. */
#ifndef CCO_BUFFERS_H
#define CCO_BUFFERS_H

#include <stddef.h>

#include "mpi/mpi_check.h"
#include "call/call.h"
#include "call/degrees.h"

/* One buffer.  Arrays are those of the call, NULL where all blocks are alike. */
typedef struct cco_buffer {
    char *buffer;
    int blocks;                  /* 0: not significant here */
    MPI_Count count;             /* elements of each block */
    const void *counts, *displs; /* displs NULL: one block after the other */
    MPI_Datatype type;
    const MPI_Datatype *types; /* of each block, in alltoallw */
} cco_buffer;

/* Where a call is in place, the end that has no buffer of its own is described all the same; for a
 * reduction it is the other one's.  `degrees` are those of this rank, for neighborhood
 * collectives; of a reduction, what it receives from 0 neighbors is nothing. */
void cco_buffers_of_movement(const cco_call *c, int rank, int size, cco_degrees degrees,
                             cco_buffer *in, cco_buffer *out);
void cco_buffers_of_reduction(const cco_call *c, int rank, int size, cco_degrees degrees,
                              cco_buffer *in, cco_buffer *out);

/* Elements of block `i` of a buffer. */
static inline MPI_Count cco_buffer_count(const cco_call *c, const cco_buffer *end, int i)
{
    return end->counts != NULL ? cco_count_at(c, end->counts, i) : end->count;
}

/* Memory from the start of a buffer to block `i`, given where the one before ends. */
static inline ptrdiff_t cco_buffer_place(const cco_call *c, const cco_buffer *end, int i,
                                         MPI_Aint extent, ptrdiff_t next)
{
    if (end->displs == NULL)
        return next;
    const ptrdiff_t displ = cco_displ_at(c, end->displs, i);
    return end->types != NULL ? displ : displ * extent;
}

/* True for a block that is nothing, and need not even have a type. */
static inline bool cco_buffer_absent(const cco_call *c, const cco_buffer *end, int i)
{
    return CCO_NULL_TYPES && end->types != NULL && end->types[i] == MPI_DATATYPE_NULL &&
           cco_buffer_count(c, end, i) == 0;
}

#endif
