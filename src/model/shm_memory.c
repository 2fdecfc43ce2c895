/* SPDX-License-Identifier: BSD-3-Clause */
/* shm_memory.c - see shm_memory.h. */
#include "model/shm_memory.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "mpi/service.h"
#include "transport/shm/segment.h"

typedef struct block {
    void *base;
    cco_segment segment;  /* none: the memory is the MPI's */
    cco_regions *regions; /* of its communicator, NULL when that is gone */
    int number;           /* there */
    struct block *next;
} block;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static block *blocks; /* of the process */

static const char regions_key; /* its address is the key */

/* The memory outlives its communicator. */
static void shm_memory_release(void *data)
{
    pthread_mutex_lock(&lock);
    for (block *b = blocks; b != NULL; b = b->next)
        if (b->regions == data)
            b->regions = NULL;
    pthread_mutex_unlock(&lock);
    free(data);
}

const cco_regions *cco_shm_memory_of(const cco_comm *state)
{
    return cco_comm_attached(state, &regions_key);
}

/* The memory of this machine, in bytes. */
static uint64_t memory_here(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : UINT64_MAX / 2;
}

/* The largest of what the ranks ask for; 0 if they cannot be asked, or if so much for each is more
 * than a machine of theirs has.  Nobody may try that: the pages are taken at once, and the kernel
 * kills processes for it.  (Small numbers: some MPIs compare unsigned ones as signed.) */
static size_t most_of_all(size_t bytes, const cco_comm *state)
{
    int64_t mine[] = {(int64_t)bytes, -(int64_t)memory_here()}, most[2] = {0};
    if (cco_service_allreduce(mine, most, 2, MPI_INT64_T, MPI_MAX, state->comm) != MPI_SUCCESS)
        return 0;
    return most[0] <= -most[1] / state->size ? (size_t)most[0] : 0;
}

static int free_number(const cco_regions *regions)
{
    int number = 0;
    while (number < CCO_REGIONS && regions->list[number].memory != NULL)
        number++;
    return number;
}

/* Gives a block memory that all ranks map, and a number; false on all ranks if there is none. */
static bool shm_memory_share(block *b, cco_comm *state, size_t bytes)
{
    const MPI_Comm comm = state->comm;
    cco_regions *regions = cco_comm_attached(state, &regions_key);
    if (regions == NULL)
        regions = cco_comm_attach(state, &regions_key, sizeof *regions, shm_memory_release);
    const size_t most = most_of_all(bytes, state);
    const int number = free_number(regions);
    if (most == 0 || number == CCO_REGIONS || !cco_segment_make(&b->segment, most, SIZE_MAX, comm))
        return false;
    regions->list[number].memory = b->segment.memory;
    regions->list[number].share = b->segment.share;
    regions->count = number < regions->count ? regions->count : number + 1;
    b->regions = regions;
    b->number = number;
    b->base = b->segment.memory + (size_t)state->rank * b->segment.share;
    return true;
}

int cco_shm_memory_make(cco_comm *state, size_t bytes, void **base)
{
    block *b = calloc(1, sizeof *b);
    if (b == NULL) /* this rank alone: the others would wait */
        PMPI_Abort(state->comm, MPI_ERR_NO_MEM);
    if (!shm_memory_share(b, state, bytes)) {
        const bool fits = bytes <= memory_here(); /* MPICH 4.0 gives an address that is none */
        const int rc = fits ? PMPI_Alloc_mem((MPI_Aint)bytes, MPI_INFO_NULL, &b->base)
                            : MPI_ERR_NO_MEM;
        if (rc != MPI_SUCCESS) {
            free(b);
            return rc;
        }
    }
    pthread_mutex_lock(&lock);
    b->next = blocks;
    blocks = b;
    pthread_mutex_unlock(&lock);
    *base = b->base;
    return MPI_SUCCESS;
}

static block *shm_memory_take(void *base)
{
    pthread_mutex_lock(&lock);
    block **at = &blocks;
    while (*at != NULL && (*at)->base != base)
        at = &(*at)->next;
    block *b = *at;
    if (b != NULL)
        *at = b->next;
    if (b != NULL && b->regions != NULL)
        b->regions->list[b->number].memory = NULL;
    pthread_mutex_unlock(&lock);
    return b;
}

int cco_shm_memory_free(void *base)
{
    block *b = shm_memory_take(base);
    if (b == NULL)
        return MPI_ERR_BASE;
    int rc = MPI_SUCCESS;
    if (b->segment.memory != NULL)
        cco_segment_free(&b->segment);
    else
        rc = PMPI_Free_mem(b->base);
    free(b);
    return rc;
}
