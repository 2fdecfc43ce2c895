/* SPDX-License-Identifier: BSD-3-Clause */
/* heap.h - the symmetric heap: memory in which every PE has the same blocks at the same offsets.
 *
 * It consists of chunks, each one CRESTA_Alloc_mem on the communicator of all PEs, and grows by
 * another one when a block fits in none.  All PEs make the same calls with the same sizes, so that
 * each manages its own list of blocks, outside the chunks, and all lists are alike. */
#ifndef CCO_HEAP_H
#define CCO_HEAP_H

#include <stdbool.h>
#include <stddef.h>

#include "mpi/mpi_compat.h"
#include "shmem/symmetric.h"

enum { CCO_HEAP_CHUNKS = 64 }; /* each at least as large as all before it */

typedef struct cco_heap_block cco_heap_block;

typedef struct cco_chunk {
    char *mine;           /* of this PE; NULL: none */
    cco_symmetric memory; /* in which it lies, from a page on */
    size_t bytes;
    cco_heap_block *blocks;
} cco_chunk;

typedef struct cco_heap {
    MPI_Comm comm; /* MPI_COMM_NULL: there is no heap */
    int rank, size;
    bool shared; /* all PEs are on one node */
    int count;   /* chunks in use lie below this */
    cco_chunk chunks[CCO_HEAP_CHUNKS];
} cco_heap;

/* A heap for the ranks of `comm`; collective.  False on all ranks without memory. */
bool cco_heap_open(cco_heap *heap, MPI_Comm comm);
void cco_heap_close(cco_heap *heap);

/* A block, aligned to a power of two up to a page; collective.  NULL on all ranks without memory.
 * Nobody else waits: the caller synchronizes. */
void *cco_heap_take(cco_heap *heap, size_t alignment, size_t bytes);

/* Gives a block back; false if there is none at this address. */
bool cco_heap_give(cco_heap *heap, void *base);

/* Bytes of the block at an address; 0 if there is none. */
size_t cco_heap_size(const cco_heap *heap, const void *base);

/* Where this process sees the bytes that PE `pe` has at `address` of this one; NULL: nowhere. */
static inline char *cco_heap_at(const cco_heap *heap, const void *address, size_t bytes, int pe)
{
    for (int i = 0; i < heap->count; i++) {
        const cco_chunk *c = &heap->chunks[i];
        const size_t offset = (size_t)((const char *)address - c->mine);
        if (c->mine == NULL || offset >= c->bytes || bytes > c->bytes - offset)
            continue;
        if (c->memory.stride == 0 && pe != heap->rank)
            return NULL;
        return (char *)address + (ptrdiff_t)(pe - heap->rank) * (ptrdiff_t)c->memory.stride;
    }
    return NULL;
}

#endif
