/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.c - CRESTA_Alloc_mem, CRESTA_Free_mem. */
#include <crestacoll.h>

#include "process/set_up.h"
#include "api/dispatch.h"
#include "mpi/mpi_check.h"
#include "call/raise.h"
#include "model/shm_memory.h"

int CRESTA_Alloc_mem(MPI_Aint bytes, MPI_Comm comm, void *baseptr)
{
    cco_process_enter();
    if (!cco_is_intra(comm))
        return cco_refuse(comm, MPI_ERR_COMM);
    if (bytes < 0 || baseptr == NULL)
        return cco_refuse(comm, MPI_ERR_ARG);
    cco_comm *state = cco_prepare(comm);
    if (state == NULL)
        return cco_refuse(comm, MPI_ERR_INTERN);
    const int rc = cco_shm_memory_make(state, (size_t)bytes, baseptr);
    return rc == MPI_SUCCESS ? rc : cco_refuse(comm, rc);
}

int CRESTA_Free_mem(void *base)
{
    const int rc = cco_shm_memory_free(base);
    return rc == MPI_SUCCESS ? rc : cco_refuse(MPI_COMM_WORLD, rc);
}
