/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.c - CRESTA_Alloc_mem, CRESTA_Free_mem. */
#include <crestacoll.h>

#include "api/set_up.h"
#include "api/dispatch.h"
#include "core/mpi_compat.h"
#include "model/shm_memory.h"

static int memory_refuse(MPI_Comm comm, int error_class)
{
    PMPI_Comm_call_errhandler(comm, error_class);
    return error_class;
}

int CRESTA_Alloc_mem(MPI_Aint bytes, MPI_Comm comm, void *baseptr)
{
    int inter = 1;
    if (cco_phase_now() == CCO_UNREAD)
        cco_process_begin_late();
    if (comm == MPI_COMM_NULL)
        return memory_refuse(MPI_COMM_WORLD, MPI_ERR_COMM);
    if (PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter)
        return memory_refuse(comm, MPI_ERR_COMM);
    if (bytes < 0 || baseptr == NULL)
        return memory_refuse(comm, MPI_ERR_ARG);
    cco_comm *state = cco_prepare(comm);
    if (state == NULL)
        return memory_refuse(comm, MPI_ERR_INTERN);
    const int rc = cco_shm_memory_make(state, (size_t)bytes, baseptr);
    return rc == MPI_SUCCESS ? rc : memory_refuse(comm, rc);
}

int CRESTA_Free_mem(void *base)
{
    const int rc = cco_shm_memory_free(base);
    return rc == MPI_SUCCESS ? rc : memory_refuse(MPI_COMM_WORLD, rc);
}
