/* SPDX-License-Identifier: BSD-3-Clause */
/* symmetric.c - see symmetric.h. */
#include "shmem/symmetric.h"

#include <unistd.h>

#include <crestacoll.h>

#include "process/set_up.h"
#include "api/dispatch.h"
#include "mpi/service.h"
#include "model/shm_memory.h"

static size_t stride_of(MPI_Comm comm, const void *base)
{
    const cco_comm *state = cco_prepare(comm);
    const cco_regions *all = state != NULL ? cco_shm_memory_of(state) : NULL;
    for (int i = 0; all != NULL && i < all->count; i++)
        if (all->list[i].memory != NULL &&
            all->list[i].memory + (size_t)state->rank * all->list[i].share == base)
            return all->list[i].share;
    return 0;
}

/* Whether all parts fit in the memory of this node.  Nobody may try: pages are taken at once, and
 * the kernel kills processes for it. */
static bool symmetric_fits(size_t bytes, MPI_Comm comm)
{
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    MPI_Comm node;
    int ranks = 1;
    if (PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node) == MPI_SUCCESS) {
        PMPI_Comm_size(node, &ranks);
        PMPI_Comm_free(&node);
    }
    const bool mine = pages <= 0 || bytes <= (size_t)pages * (size_t)page / (size_t)ranks;
    return cco_service_all(mine, comm);
}

bool cco_symmetric_make(cco_symmetric *memory, size_t bytes, MPI_Comm comm)
{
    MPI_Errhandler programs;
    *memory = (cco_symmetric){0};
    PMPI_Comm_get_errhandler(comm, &programs);
    PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    if (!symmetric_fits(bytes, comm) ||
        CRESTA_Alloc_mem((MPI_Aint)bytes, comm, &memory->base) != MPI_SUCCESS)
        memory->base = NULL;
    const bool all = cco_service_all(memory->base != NULL,
                                     comm); /* the MPI's own memory: each by itself */
    PMPI_Comm_set_errhandler(comm, programs);
    PMPI_Errhandler_free(&programs);
    if (all)
        memory->stride = stride_of(comm, memory->base);
    else
        cco_symmetric_free(memory);
    return all;
}

void cco_symmetric_free(cco_symmetric *memory)
{
    if (memory->base != NULL)
        CRESTA_Free_mem(memory->base);
    *memory = (cco_symmetric){0};
}
