/* SPDX-License-Identifier: BSD-3-Clause */
/* shadow.h - a copy of the memory of one end of a call, gaps included, with all blocks as far apart
 * as they are in the program's: the same call can be made with it. */
#ifndef CCO_SHADOW_H
#define CCO_SHADOW_H

#include <stdbool.h>
#include <stddef.h>

#include "plan/buffers.h"

/* A block of an end that holds something. */
typedef struct cco_shadow_block {
    char *at;        /* its first element, in the program's memory */
    MPI_Count count; /* elements */
    MPI_Datatype type;
    MPI_Aint extent; /* of an element */
    char *low;       /* the first byte that belongs to it, */
    size_t span;     /* and how many there are, with gaps */
    bool dense;      /* it has no gaps */
    int number;      /* of the block in the call */
} cco_shadow_block;

/* What an end touches. */
typedef struct cco_covered {
    cco_shadow_block *blocks;
    int count;
    char *low, *high; /* from the first byte of all to behind the last */
    size_t bytes;     /* of memory in blocks */
    bool dense;       /* no block has gaps */
} cco_covered;

/* Describes an end of a valid call; cco_covered_free must follow.  False when memory runs out. */
bool cco_covered_make(cco_covered *end, const cco_call *call, const cco_buffer *buffer);
void cco_covered_free(cco_covered *end);

/* True if this process may read all of it: gaps may lie where there is no memory. */
bool cco_covered_is_mapped(const cco_covered *end);

typedef struct cco_shadow {
    void *memory;    /* NULL: there is none */
    ptrdiff_t moved; /* from the program's memory to the copy */
} cco_shadow;

/* Copies an end; what lies between blocks is not copied.  False when memory runs out. */
bool cco_shadow_make(cco_shadow *shadow, const cco_covered *end);
void cco_shadow_free(cco_shadow *shadow);

/* Where an address of the program lies in the copy. */
static inline char *cco_shadowed(const cco_shadow *shadow, const void *address)
{
    return (char *)((uintptr_t)address + (uintptr_t)shadow->moved);
}

#endif
