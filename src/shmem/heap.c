/* SPDX-License-Identifier: BSD-3-Clause */
/* heap.c - see heap.h. */
#include "shmem/heap.h"

#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"

enum {
    FIRST = 1 << 20, /* bytes of the first chunk: its pages are taken at once */
    UNIT = 64,       /* blocks are whole cache lines: no two share one */
};

struct cco_heap_block {
    size_t offset, bytes;
    size_t asked;         /* for; 0: free */
    cco_heap_block *next; /* the one behind it */
};

/* Lists of blocks that differ between PEs would give different addresses. */
static cco_heap_block *new_block(size_t offset, size_t bytes, cco_heap_block *next)
{
    cco_heap_block *b = malloc(sizeof *b);
    if (b == NULL)
        cco_fatal("shmem: no memory for the list of blocks of the symmetric heap");
    *b = (cco_heap_block){.offset = offset, .bytes = bytes, .next = next};
    return b;
}

static size_t heap_rounded(size_t n, size_t unit)
{
    return (n + unit - 1) / unit * unit;
}

/* Another chunk; collective, with the same answer on all PEs. */
static cco_chunk *heap_grow(cco_heap *heap, size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    int i = 0;
    size_t most = FIRST, all = 0;
    for (int k = 0; k < heap->count; k++)
        all += heap->chunks[k].mine != NULL ? heap->chunks[k].bytes : 0;
    while (i < heap->count && heap->chunks[i].mine != NULL)
        i++;
    most = all > most ? all : most;
    most = heap_rounded(bytes > most ? bytes : most, page);
    cco_chunk *c = &heap->chunks[i];
    if (i == CCO_HEAP_CHUNKS || most > PTRDIFF_MAX - page ||
        !cco_symmetric_make(&c->memory, most + page, heap->comm))
        return NULL;
    const bool shared = c->memory.stride > 0 || heap->size == 1;
    if (heap->count > 0 && heap->shared && !shared) { /* out of shared memory */
        cco_symmetric_free(&c->memory);
        return NULL;
    }
    heap->shared = shared;
    c->mine = (char *)heap_rounded((uintptr_t)c->memory.base, page);
    c->bytes = most;
    c->blocks = new_block(0, most, NULL);
    heap->count = i < heap->count ? heap->count : i + 1;
    return c;
}

bool cco_heap_open(cco_heap *heap, MPI_Comm comm)
{
    *heap = (cco_heap){.comm = comm};
    PMPI_Comm_rank(comm, &heap->rank);
    PMPI_Comm_size(comm, &heap->size);
    return heap_grow(heap, FIRST) != NULL;
}

static void heap_drop(cco_chunk *c)
{
    for (cco_heap_block *b = c->blocks, *next; b != NULL; b = next) {
        next = b->next;
        free(b);
    }
    cco_symmetric_free(&c->memory);
    *c = (cco_chunk){0};
}

void cco_heap_close(cco_heap *heap)
{
    for (int i = 0; i < heap->count; i++)
        if (heap->chunks[i].mine != NULL)
            heap_drop(&heap->chunks[i]);
    *heap = (cco_heap){.comm = MPI_COMM_NULL};
}

/* A block of a chunk, the first that fits. */
static void *heap_take_from(cco_chunk *c, size_t alignment, size_t bytes, size_t asked)
{
    for (cco_heap_block *b = c->blocks; b != NULL; b = b->next) {
        const size_t skip = heap_rounded(b->offset, alignment) - b->offset;
        if (b->asked > 0 || b->bytes < skip || b->bytes - skip < bytes)
            continue;
        if (skip > 0) { /* what lies before it stays free */
            b->next = new_block(b->offset + skip, b->bytes - skip, b->next);
            b->bytes = skip;
            b = b->next;
        }
        if (b->bytes > bytes)
            b->next = new_block(b->offset + bytes, b->bytes - bytes, b->next);
        b->bytes = bytes;
        b->asked = asked;
        return c->mine + b->offset;
    }
    return NULL;
}

void *cco_heap_take(cco_heap *heap, size_t alignment, size_t asked)
{
    if (asked == 0 || asked > PTRDIFF_MAX - UNIT || alignment > (size_t)sysconf(_SC_PAGESIZE) ||
        (alignment & (alignment - 1)) != 0)
        return NULL;
    const size_t bytes = heap_rounded(asked, UNIT), unit = alignment > UNIT ? alignment : UNIT;
    for (int i = 0; i < heap->count; i++) {
        void *block = heap->chunks[i].mine != NULL
                          ? heap_take_from(&heap->chunks[i], unit, bytes, asked)
                          : NULL;
        if (block != NULL)
            return block;
    }
    cco_chunk *c = heap_grow(heap, bytes);
    return c != NULL ? heap_take_from(c, unit, bytes, asked) : NULL;
}

/* The block at an address, its chunk and the one before it. */
static cco_heap_block *heap_find(const cco_heap *heap, const void *base, int *chunk,
                                 cco_heap_block **before)
{
    for (int i = 0; i < heap->count; i++) {
        *before = NULL;
        for (cco_heap_block *b = heap->chunks[i].blocks; b != NULL; b = b->next) {
            *chunk = i;
            if (b->asked > 0 && heap->chunks[i].mine + b->offset == base)
                return b;
            *before = b;
        }
    }
    return NULL;
}

/* Joins a free block with the one behind it, if that is free. */
static void heap_join(cco_heap_block *b)
{
    cco_heap_block *next = b->next;
    if (b->asked > 0 || next == NULL || next->asked > 0)
        return;
    b->bytes += next->bytes;
    b->next = next->next;
    free(next);
}

bool cco_heap_give(cco_heap *heap, void *base)
{
    cco_heap_block *before;
    int i;
    cco_heap_block *b = heap_find(heap, base, &i, &before);
    if (b == NULL)
        return false;
    b->asked = 0;
    heap_join(b);
    if (before != NULL)
        heap_join(before);
    b = heap->chunks[i].blocks;
    if (i > 0 && b->asked == 0 && b->next == NULL) /* all of it is free */
        heap_drop(&heap->chunks[i]);
    return true;
}

size_t cco_heap_size(const cco_heap *heap, const void *base)
{
    cco_heap_block *before;
    int i;
    const cco_heap_block *b = heap_find(heap, base, &i, &before);
    return b != NULL ? b->asked : 0;
}
