/* SPDX-License-Identifier: BSD-3-Clause */
/* entries.c - start and end of OpenSHMEM, the symmetric heap, addresses. */
#include <stdlib.h>
#include <string.h>

#include <crestacoll_shmem.h>

#include "process/process.h"
#include "comm/channel.h"
#include "base/log.h"
#include "base/pause.h"
#include "shmem/heap.h"
#include "shmem/team.h"

static cco_heap heap = {.comm = MPI_COMM_NULL};
static bool ours; /* MPI_Init */

static bool entries_started(void)
{
    return heap.comm != MPI_COMM_NULL;
}

int CRESTA_Shmem_init(MPI_Comm comm)
{
    int inter = 1;
    MPI_Errhandler theirs;
    if (entries_started())
        return MPI_ERR_OTHER;
    if (comm == MPI_COMM_NULL || PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter)
        return MPI_ERR_COMM;
    cco_process_enter();
    MPI_Comm all = cco_comm_copy(comm);
    if (all == MPI_COMM_NULL)
        return MPI_ERR_COMM;
    PMPI_Comm_get_errhandler(comm, &theirs);
    PMPI_Comm_set_errhandler(all, theirs);
    PMPI_Errhandler_free(&theirs);
    if (!cco_heap_open(&heap, all)) {
        heap.comm = MPI_COMM_NULL;
        PMPI_Comm_free(&all);
        return MPI_ERR_NO_MEM;
    }
    (void)cco_team_open(all, heap.shared);
    return MPI_SUCCESS;
}

int CRESTA_Shmem_begin(int wanted, int *provided)
{
    static const int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED,
                                 MPI_THREAD_MULTIPLE};
    int there = 0, got;
    PMPI_Initialized(&there);
    if (!there && wanted >= SHMEM_THREAD_SINGLE && wanted <= SHMEM_THREAD_MULTIPLE) {
        MPI_Init_thread(NULL, NULL, levels[wanted], &got);
        ours = true;
    } else if (!there) {
        return MPI_ERR_ARG;
    }
    if (provided != NULL)
        *provided = CRESTA_Shmem_thread();
    return entries_started() ? 0 : CRESTA_Shmem_init(MPI_COMM_WORLD);
}

int CRESTA_Shmem_thread(void)
{
    int level = MPI_THREAD_SINGLE;
    PMPI_Query_thread(&level);
    return level == MPI_THREAD_MULTIPLE     ? SHMEM_THREAD_MULTIPLE
           : level == MPI_THREAD_SERIALIZED ? SHMEM_THREAD_SERIALIZED
           : level == MPI_THREAD_FUNNELED   ? SHMEM_THREAD_FUNNELED
                                            : SHMEM_THREAD_SINGLE;
}

void CRESTA_Shmem_end(void)
{
    int over = 0;
    PMPI_Finalized(&over);
    if (!entries_started() || over)
        return;
    CRESTA_Shmem_barrier(SHMEM_TEAM_WORLD);
    cco_heap_close(&heap); /* before the communicator, which the team ends */
    cco_teams_close();
    if (ours)
        MPI_Finalize();
    ours = false;
}

void CRESTA_Shmem_global_exit(int status)
{
    PMPI_Abort(entries_started() ? heap.comm : MPI_COMM_WORLD, status);
    exit(status);
}

/* Waits for all PEs; ends the job if they do not ask for the same. */
static void entries_agree(const char *function, uint64_t value)
{
    uint64_t mine[2] = {value, ~value}, most[2] = {0, 0};
    if (!entries_started())
        cco_fatal("%s: before shmem_init", function);
    CRESTA_Shmem_reduce(SHMEM_TEAM_WORLD, most, mine, 2, MPI_UINT64_T, MPI_MAX);
    if (most[0] == ~most[1])
        return;
    if (heap.rank == 0)
        cco_fatal("%s: PEs ask for different sizes or addresses, up to %llu (PE 0: %llu); all PEs"
                  " must pass the same",
                  function, (unsigned long long)most[0], (unsigned long long)value);
    CRESTA_Shmem_barrier(SHMEM_TEAM_WORLD); /* PE 0 ends the job */
}

/* What a symmetric address is on every PE: its chunk's number and the offset there. */
static uint64_t entries_symmetric(const void *address)
{
    for (int i = 0; i < heap.count; i++) {
        const cco_chunk *c = &heap.chunks[i];
        const size_t offset = (size_t)((const char *)address - c->mine);
        if (c->mine != NULL && offset < c->bytes)
            return (uint64_t)i << 48 | offset;
    }
    return UINT64_MAX;
}

void *CRESTA_Shmem_alloc(size_t alignment, size_t bytes, int zero)
{
    entries_agree("shmem_malloc", bytes);
    void *block = cco_heap_take(&heap, alignment, bytes);
    if (zero && block != NULL)
        memset(block, 0, bytes);
    if (zero)
        CRESTA_Shmem_barrier(SHMEM_TEAM_WORLD);
    return block;
}

void CRESTA_Shmem_free(void *base)
{
    if (base == NULL)
        return;
    entries_agree("shmem_free", entries_symmetric(base));
    if (!cco_heap_give(&heap, base))
        cco_fatal("shmem_free: %p was not returned by shmem_malloc", base);
}

void *CRESTA_Shmem_realloc(void *base, size_t bytes)
{
    if (base == NULL)
        return CRESTA_Shmem_alloc(0, bytes, 0);
    const size_t old = cco_heap_size(&heap, base);
    if (old == 0)
        cco_fatal("shmem_realloc: %p was not returned by shmem_malloc", base);
    entries_agree("shmem_realloc", bytes);
    void *block = cco_heap_take(&heap, 0, bytes);
    if (block != NULL)
        memcpy(block, base, old < bytes ? old : bytes);
    if (block != NULL || bytes == 0)
        (void)cco_heap_give(&heap, base);
    CRESTA_Shmem_barrier(SHMEM_TEAM_WORLD);
    return block;
}

int CRESTA_Shmem_reaches(int pe)
{
    return entries_started() && pe >= 0 && pe < heap.size && (heap.shared || pe == heap.rank);
}

void *CRESTA_Shmem_ptr(const void *address, int pe)
{
    return CRESTA_Shmem_reaches(pe) ? cco_heap_at(&heap, address, 1, pe) : NULL;
}

__attribute__((noreturn)) static void entries_refuse(const void *address, size_t bytes, int pe,
                                                     const char *function)
{
    if (!entries_started())
        cco_fatal("%s: before shmem_init", function);
    if (pe < 0 || pe >= heap.size)
        cco_fatal("%s: PE %d, expected 0 to %d", function, pe, heap.size - 1);
    if (!heap.shared)
        cco_fatal("%s: PE %d may be on another node than PE %d; crestacoll reaches the memory of"
                  " other PEs only where all are on one node",
                  function, pe, heap.rank);
    cco_fatal("%s: PE %d: %zu bytes at %p are not in one block of shmem_malloc; crestacoll does not"
              " reach static variables of other PEs",
              function, heap.rank, bytes, address);
}

void *CRESTA_Shmem_at(const void *address, size_t bytes, int pe, const char *function)
{
    char *there = pe >= 0 && pe < heap.size ? cco_heap_at(&heap, address, bytes, pe) : NULL;
    if (there == NULL && entries_started() && (pe == heap.rank || bytes == 0))
        return (void *)address; /* its own memory, of whatever kind */
    if (there == NULL)
        entries_refuse(address, bytes, pe, function);
    return there;
}

void CRESTA_Shmem_pause(int *tries)
{
    if (*tries == 0)
        *tries = CCO_PAUSE_MEMORY;
    cco_pause(tries);
    *tries += *tries == 0; /* 0 is the beginning */
}
