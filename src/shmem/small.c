/* SPDX-License-Identifier: BSD-3-Clause */
/* small.c - see small.h. */
#include "shmem/small.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/pause.h"
#include "mpi/service.h"

enum {
    LINE = 64,
    HEAD = LINE - CCO_SMALL_LINE,                             /* the number */
    SLOT = (HEAD + CCO_SMALL_BYTES + LINE - 1) / LINE * LINE, /* bytes */
    SLOTS = 16,
    LEFT = SLOTS * SLOT, /* behind the slots: calls that the rank has left */
    RADIX = 8, /* a rank writes this many lines before another could have passed on the first */
};

/* Number of a slot, or calls that a rank has left. */
static uint64_t shmem_small_look(const char *at)
{
    return __atomic_load_n((const uint64_t *)(const void *)at, __ATOMIC_ACQUIRE);
}

static void shmem_small_say(char *at, uint64_t number)
{
    __atomic_store_n((uint64_t *)(void *)at, number, __ATOMIC_RELEASE);
}

bool cco_small_open(cco_small *small, MPI_Comm comm)
{
    *small = (cco_small){.radix = RADIX};
    PMPI_Comm_rank(comm, &small->rank);
    PMPI_Comm_size(comm, &small->size);
    small->passed = calloc((size_t)small->size, sizeof *small->passed);
    if (small->passed == NULL)
        cco_fatal("shmem: no memory for a team of %d PEs", small->size);
    if (!cco_symmetric_make(&small->memory, LEFT + LINE, comm) ||
        (small->memory.stride == 0 && small->size > 1)) {
        cco_small_close(small);
        return false;
    }
    small->mine = small->memory.base;
    /* Where ranks take turns on a core, each level would wait for its ranks' turns. */
    if (!cco_service_all(!cco_pause_crowds(), comm))
        small->radix = small->size;
    return true;
}

void cco_small_close(cco_small *small)
{
    cco_symmetric_free(&small->memory);
    free(small->passed);
    *small = (cco_small){0};
}

static char *shmem_small_of(const cco_small *small, int rank)
{
    return small->mine + (ptrdiff_t)(rank - small->rank) * (ptrdiff_t)small->memory.stride;
}

static char *shmem_small_slot(const cco_small *small, int rank)
{
    return shmem_small_of(small, rank) + small->call % SLOTS * SLOT;
}

/* Waits until `rank` has left the call that had its slot before. */
static void wait_for_room(cco_small *small, int rank)
{
    int tries = CCO_PAUSE_MEMORY;
    while (small->passed[rank] + SLOTS < small->call &&
           (small->passed[rank] = shmem_small_look(shmem_small_of(small, rank) + LEFT)) + SLOTS <
               small->call)
        cco_pause(&tries);
}

/* The reader looks at the first line all the time, and takes it each time: it is written last. */
static void shmem_small_write_slot(char *to, const char *from, size_t bytes, uint64_t call)
{
    if (bytes > CCO_SMALL_LINE)
        memcpy(to + LINE, from + CCO_SMALL_LINE, bytes - CCO_SMALL_LINE);
    memcpy(to + HEAD, from, bytes < CCO_SMALL_LINE ? bytes : CCO_SMALL_LINE);
    shmem_small_say(to, call);
}

static void shmem_small_pass_on(cco_small *small, const char *from, size_t bytes, int root,
                                int place)
{
    const int first = place * small->radix + 1;
    for (int i = first; i < first + small->radix && i < small->size; i++) {
        const int rank = (root + i) % small->size;
        wait_for_room(small, rank);
        shmem_small_write_slot(shmem_small_slot(small, rank), from, bytes, small->call);
    }
}

void cco_small_broadcast(cco_small *small, void *dest, const void *source, size_t bytes, int root)
{
    const int place = (small->rank - root + small->size) % small->size;
    small->call++;
    if (place == 0) {
        shmem_small_pass_on(small, source, bytes, root, 0);
    } else {
        const char *from = shmem_small_slot(small, small->rank);
        for (int tries = CCO_PAUSE_MEMORY; shmem_small_look(from) != small->call;)
            cco_pause(&tries);
        if (place * small->radix + 1 < small->size)
            shmem_small_pass_on(small, from + HEAD, bytes, root, place);
        memcpy(dest, from + HEAD, bytes);
    }
    shmem_small_say(small->mine + LEFT, small->call);
}
