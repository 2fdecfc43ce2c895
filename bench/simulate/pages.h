/* SPDX-License-Identifier: BSD-3-Clause */
/* pages.h - memory that is read here and there: on large pages, where the system has them, most of
 * these reads find their page's address at once. */
#ifndef SIMULATE_PAGES_H
#define SIMULATE_PAGES_H

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

/* As realloc; what is new is not filled. */
static inline void *pages_resize(void *old, size_t count, size_t size)
{
    const size_t page = (size_t)2 << 20;
    void *memory = realloc(old, count * size);
    const uintptr_t first = ((uintptr_t)memory + page - 1) / page * page;
    const uintptr_t end = ((uintptr_t)memory + count * size) / page * page;
    if (memory != NULL && first < end)
        madvise((void *)first, end - first, MADV_HUGEPAGE);
    return memory;
}

/* Whole lines of the caches, too. */
static inline void *pages_new(size_t count, size_t size)
{
    const size_t page = (size_t)2 << 20, bytes = (count * size + page - 1) / page * page;
    void *memory = aligned_alloc(page, bytes);
    if (memory != NULL)
        madvise(memory, bytes, MADV_HUGEPAGE);
    return memory;
}

#endif
