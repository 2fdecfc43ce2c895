/* SPDX-License-Identifier: BSD-3-Clause */
/* shadow.c - see shadow.h. */
#include "validate/shadow.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "call/data.h"

enum { LINE = 64 }; /* a copy lies to lines of this size as the program's memory does */

/* The memory of one block, which is not empty. */
static bool shadow_describe(cco_shadow_block *b, char *at)
{
    MPI_Aint start, low, reach;
    if (PMPI_Type_get_extent(b->type, &start, &b->extent) != MPI_SUCCESS ||
        PMPI_Type_get_true_extent(b->type, &low, &reach) != MPI_SUCCESS)
        return false;
    const ptrdiff_t rest = (ptrdiff_t)(b->count - 1) * b->extent;
    b->at = at;
    b->low = (char *)((uintptr_t)at + (uintptr_t)(low + (rest < 0 ? rest : 0)));
    b->span = (size_t)(reach + (rest < 0 ? -rest : rest));
    b->dense = cco_type_dense(b->type);
    return true;
}

static void shadow_add(cco_covered *end, const cco_shadow_block *b)
{
    char *high = b->low + b->span;
    end->low = end->count == 0 || b->low < end->low ? b->low : end->low;
    end->high = end->count == 0 || high > end->high ? high : end->high;
    end->bytes += b->span;
    end->dense = end->dense && b->dense;
    end->blocks[end->count++] = *b;
}

bool cco_covered_make(cco_covered *end, const cco_call *call, const cco_buffer *buffer)
{
    ptrdiff_t next = 0;
    *end = (cco_covered){.dense = true};
    end->blocks = malloc(((size_t)buffer->blocks + 1) * sizeof *end->blocks);
    for (int i = 0; end->blocks != NULL && i < buffer->blocks; i++) {
        cco_shadow_block b = {.count = cco_buffer_count(call, buffer, i),
                              .type = buffer->types != NULL ? buffer->types[i] : buffer->type,
                              .number = i};
        MPI_Aint start, extent = 0;
        if (cco_buffer_absent(call, buffer, i))
            continue;
        if (buffer->types == NULL && PMPI_Type_get_extent(b.type, &start, &extent) != MPI_SUCCESS)
            return false;
        const ptrdiff_t place = cco_buffer_place(call, buffer, i, extent, next);
        next = place + (ptrdiff_t)b.count * extent;
        if (b.count <= 0 || cco_type_size(b.type) == 0)
            continue;
        if (!shadow_describe(&b, (char *)((uintptr_t)buffer->buffer + (uintptr_t)place)))
            return false;
        shadow_add(end, &b);
    }
    return end->blocks != NULL;
}

void cco_covered_free(cco_covered *end)
{
    free(end->blocks);
    *end = (cco_covered){0};
}

/* Pages of a block that are not there: mincore fails. */
static bool is_mapped(const cco_shadow_block *b)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t low = (uintptr_t)b->low / page * page, high = (uintptr_t)b->low + b->span;
    unsigned char seen[512];
    for (uintptr_t at = low; at < high; at += sizeof seen * page) {
        const size_t rest = high - at, most = sizeof seen * page;
        if (mincore((void *)at, rest < most ? rest : most, seen) != 0)
            return false;
    }
    return true;
}

bool cco_covered_is_mapped(const cco_covered *end)
{
    for (int i = 0; i < end->count; i++)
        if (!end->blocks[i].dense && !is_mapped(&end->blocks[i]))
            return false;
    return true;
}

bool cco_shadow_make(cco_shadow *shadow, const cco_covered *end)
{
    const size_t room = (size_t)(end->high - end->low);
    shadow->memory = malloc(room + 2 * LINE);
    if (shadow->memory == NULL)
        return false;
    const uintptr_t first = ((uintptr_t)shadow->memory + LINE - 1) / LINE * LINE;
    shadow->moved = (ptrdiff_t)(first + (uintptr_t)end->low % LINE - (uintptr_t)end->low);
    for (int i = 0; i < end->count; i++) {
        const cco_shadow_block *b = &end->blocks[i];
        memcpy(cco_shadowed(shadow, b->low), b->low, b->span);
    }
    return true;
}

void cco_shadow_free(cco_shadow *shadow)
{
    free(shadow->memory);
    *shadow = (cco_shadow){0};
}
